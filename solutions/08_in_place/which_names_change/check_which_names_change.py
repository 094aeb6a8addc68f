import pytest
import torch

from grader.check import assert_isinstance, assert_true, check

CHANGES = {  # lines that are to change a, with what there is to know about them
    "a.add_(1)": "the underscore says that `add_` writes where a lies, and b is a name of the same tensor",
    "a.add(1)": "`add` without the underscore makes a new tensor, and here nobody gives it a name",
    "a = a.mul_(2)": "`mul_` writes where a lies and returns a itself, so that the assignment changes nothing",
    "a = torch.sin(a)": "`torch.sin` makes a new tensor; a becomes its name, and b stays the name of the old one",
    "torch.sin(a, out=a)": "`out=` names the tensor that is written to, and here that is the one of b",
    "a[0][1] = 7": "`a[0]` with an int is a view, so the write goes through it to the numbers of a",
    "a[[0]][0, 1] = 7": "`a[[0]]` with a list is a copy; the write goes there, and the copy is dropped",
}

COPIES = {  # lines that make b, likewise
    "b = a.detach()": "`detach` leaves the history behind, and not the memory: both tensors lie in the same place",
    "b = a.detach().clone()": "`detach` shares memory with a, and `clone` then copies it",
    "b = a[:, 1]": "a slice with an int is a view: another shape on the same memory",
    "b = a[a > 2]": "a mask picks numbers that lie anywhere, so they are copied together",
    "b = a.to(torch.float32)": "a has this dtype already, and `to` returns a itself where nothing is to be converted",
    "b = a.to(torch.float64)": "numbers of 8 bytes do not fit where those of 4 lie, so another dtype is a copy",
    "b = a * 1": "the result of arithmetic is a new tensor, also if its numbers are equal",
}

# Lines count together that get different answers, so that one answer for all of them has no points.


def is_seen(line):
    """Run a line as the task says: whether the numbers in b are others in the end."""
    names = {"torch": torch, "a": torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])}
    first, second = (line, "a.zero_()") if line in COPIES else ("b = a", line)
    exec(first, names)
    before = names["b"].clone()
    exec(second, names)
    return not torch.equal(before, names["b"])


def predicted(student, lines, reasons):
    """The answers are right. The student knows the lines, so messages may show them; a reason comes with a mistake."""
    answers = student.ANSWERS
    assert_isinstance(answers, dict, "ANSWERS")
    close = {str(key).replace(" ", ""): value for key, value in answers.items()}  # the spaces are a matter of C1
    for line in lines:
        yours = close.get(line.replace(" ", ""))
        assert_true(isinstance(yours, int), f"there is no answer for the line  {line}  yet")
        assert_true(yours == is_seen(line), f"the answer for  {line}  is wrong: {reasons[line]}")


@check("C2", share=2, try_this="a = torch.zeros(2); b = a; then the line with this a; print(b)")
@pytest.mark.parametrize(
    "lines", [("a.add_(1)", "a.add(1)"), ("a[0][1] = 7", "a[[0]][0, 1] = 7")], ids=["add", "index"]
)
def check_pair(student, lines):
    """Two lines that look alike: seen in b, or not"""
    predicted(student, lines, CHANGES)


@check("C2", share=3, try_this="a = torch.ones(2); b = a; then the line with this a; print(b)")
def check_three(student):
    """mul_ and two sines: seen in b, or not"""
    predicted(student, ("a = a.mul_(2)", "a = torch.sin(a)", "torch.sin(a, out=a)"), CHANGES)


@check("C3", share=2, try_this="a = torch.ones(2, 3); then the line; a.zero_(); print(b)")
@pytest.mark.parametrize(
    "lines", [("b = a.detach()", "b = a.detach().clone()"), ("b = a[:, 1]", "b = a[a > 2]")], ids=["detach", "index"]
)
def check_pair_of_copies(student, lines):
    """Two ways to make b, and then a.zero_()"""
    predicted(student, lines, COPIES)


@check("C3", share=3, try_this="a = torch.ones(2, 3); then the line; a.zero_(); print(b)")
def check_three_copies(student):
    """Three ways to equal numbers, and then a.zero_()"""
    predicted(student, ("b = a.to(torch.float32)", "b = a.to(torch.float64)", "b = a * 1"), COPIES)
