import torch

from grader.check import CannotJudge, assert_isinstance, assert_runs_without, assert_true, check, kind

CHANGES = ("a += 1", "a = a + 1", "a.add_(1)", "a.add(1)", "a = a.mul_(2)", "a = torch.sin(a)", "torch.sin(a, out=a)")
CHANGES += ("a[0][1] = 7", "a[[0]][0, 1] = 7")
CALLS = ("clone()", "detach()", "detach().clone()", "view(6)", "to(torch.float32)", "to(torch.float64)")
LINES = (*CHANGES, *(f"b = a.{call}" for call in CALLS), "b = a[:, 1]", "b = a[a > 2]", "b = a * 1")


def numbers_in_b(line):
    """Run a line as the task says; the numbers in b before and after."""
    names = {"torch": torch, "a": torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])}
    first, second = (line, "a.zero_()") if line.startswith("b =") else ("b = a", line)
    exec(first, names)
    before = names["b"].clone()
    exec(second, names)
    return before, names["b"]


def predicted(student, *lines):
    """The answers for some lines are what happens when they run. Spaces in a key are a matter of C1."""
    answers = student.ANSWERS
    assert_isinstance(answers, dict, "ANSWERS")
    close = {str(key).replace(" ", ""): value for key, value in answers.items()}
    for line in lines:
        yours = close.get(line.replace(" ", ""))
        assert_true(isinstance(yours, int), f"there is no answer for the line  {line}  yet")
        before, after = numbers_in_b(line)
        story = f"{bool(yours)} is wrong for the line  {line}\nb before  {before.tolist()}\nb after   {after.tolist()}"
        assert_true(yours == (not torch.equal(before, after)), f"the answer for  {line}  is wrong", story)


@check("C1", share=1)
def check_each_line(student):
    """Each line has True or False"""
    answers = student.ANSWERS
    assert_isinstance(answers, dict, "ANSWERS")
    assert_true(answers, "ANSWERS is empty: no statement put answers into it, or one did that uses torch or NumPy")
    for line in LINES:
        assert_true(line in answers, f"there is no key  {line}  in ANSWERS: is it as in the task, with all its spaces?")
        answer = answers[line]
        assert_true(answer is not None, f"there is no answer for the line  {line}  yet")
        assert_true(isinstance(answer, bool), f"expected True or False for the line `{line}`, got {kind(answer)}")
    assert_true(len(answers) == len(LINES), f"expected {len(LINES)} lines in ANSWERS, got {len(answers)}")


@check("C2", share=2)
def check_two_changes(student):
    """Two ways to add 1: seen in b, or not"""
    predicted(student, "a += 1", "a = a + 1")


@check("C3", share=2)
def check_two_names(student):
    """A clone and a view, and then a.zero_()"""
    predicted(student, "b = a.clone()", "b = a.view(6)")


@check("C4", share=1)
def check_predicted(student):
    """Predicted without torch and NumPy"""
    answers = student.ANSWERS
    assert_isinstance(answers, dict, "ANSWERS")
    if answers and all(answer is None for answer in answers.values()):
        raise CannotJudge("there are no answers yet; how you got them is judged later")
    assert_runs_without(student)
