import pytest
import torch

from grader.check import CannotJudge, check, imports_no, is_instance, kind, require

LINES = 18


def numbers_in_b(line):
    """Run a line as the task says; the numbers in b before and after."""
    names = {"torch": torch, "a": torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])}
    first, second = (line, "a.zero_()") if line.startswith("b =") else ("b = a", line)
    exec(first, names)
    before = names["b"].clone()
    exec(second, names)
    return before, names["b"]


def predicted(student, line):
    """The answer for a line is what happens when it runs."""
    answers = student.ANSWERS
    is_instance(answers, dict, "ANSWERS")
    yours = answers.get(line)
    require(isinstance(yours, int), f"there is no answer for the line  {line}  yet")
    before, after = numbers_in_b(line)
    story = f"you say {bool(yours)} for  {line}\nb before  {before.tolist()}\nb after   {after.tolist()}"
    require(yours == (not torch.equal(before, after)), "the answer is wrong", story)


@check("C1", share=1)
def check_each_line(student):
    """Each line has True or False"""
    answers = student.ANSWERS
    is_instance(answers, dict, "ANSWERS")
    require(len(answers) == LINES, f"ANSWERS has {len(answers)} lines, {LINES} are asked")
    for line, answer in answers.items():
        require(answer is not None, f"there is no answer for the line  {line}  yet")
        require(isinstance(answer, bool), f"the answer for the line  {line}  is {kind(answer)}, True or False is asked")


@check("C2", share=1)
@pytest.mark.parametrize("line", ["a += 1", "a = a + 1"], ids=["a+=1", "a=a+1"])
def check_two_changes(student, line):
    """Seen in b, or not"""
    predicted(student, line)


@check("C3", share=1)
@pytest.mark.parametrize("line", ["b = a.clone()", "b = a[:, 1]"], ids=["b=a.clone()", "b=a[:,1]"])
def check_two_names(student, line):
    """b, and then a.zero_()"""
    predicted(student, line)


@check("C4", share=1)
def check_predicted(student):
    """Predicted without torch and NumPy"""
    answers = student.ANSWERS
    is_instance(answers, dict, "ANSWERS")
    if all(answer is None for answer in answers.values()):
        raise CannotJudge("there are no answers yet; how you got them is judged later")
    imports_no(student, "torch", "numpy")
