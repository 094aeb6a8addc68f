"""What student code changes in an argument reaches nothing that a check expects, unless the check asks for it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from check_process.courses import course_of_one, graded
from support import Grade, message, verdicts

from grader.course.load import load_course
from grader.model import Course

_EXERCISE = '''"""Changed

C1  `double(x)` returns a new tensor, twice x.
C2  `double_(x)` doubles x in place and returns x.
C3  `head(x)` returns a view of the first element of x, `made()` a tensor.
"""
''' + "".join(f"def {head}: raise NotImplementedError  # TODO\n" for head in ("double(x)", "double_(x)", "head(x)"))
_OTHERS = "\ndef double_(x): return x.mul_(2)\ndef head(x): return x[:1]\ndef made(): return torch.ones(3)\n"
_REFERENCE = "import torch\ndef double(x): return 2 * x\n" + _OTHERS
_CHECKS = '''
import torch

from grader.check import after_call, check, copies, assert_in_place, assert_view, assert_values


@check("C1", try_this="double(torch.ones(2))")
def check_tensor(student, rng):
    """Doubles a tensor"""
    x = rng.normal(3)
    assert_values(student.double(x), 2 * x)


@check("C1", try_this="double(torch.ones(2))")
def check_twice(student, rng):
    """Doubles a tensor again and again"""
    x = rng.normal(3)
    for _ in range(2):
        assert_values(student.double(x), 2 * x)


@check("C1", try_this="double(np.ones(2))")
def check_array(student, rng):
    """Doubles an array"""
    x = rng.normal(3).numpy()
    assert_values(student.double(x), 2 * x)


@check("C1", try_this="double(double(torch.ones(2)))")
def check_result(student):
    """Doubles what it gave"""
    y = student.made()
    assert_values(student.double(y), 2 * y)


@check("C2", try_this="double_(torch.ones(2))")
def check_in_place(student, rng):
    """Doubles in place"""
    x = rng.normal(3)
    (before,) = copies(x)
    assert_in_place(student.double_(x), x)
    assert_values(x, 2 * before)


@check("C2", try_this="double_(torch.ones(2))")
def check_changed(student, rng):
    """Changes the argument"""
    x = rng.normal(3)
    (before,) = copies(x)
    student.double_(x)
    assert_values(after_call(x), 2 * before)


@check("C2", try_this="double_(torch.ones(2))")
def check_by_plain_asserts(student, rng):
    """Changes what lies below, by asserts that say nothing of it"""
    x = rng.normal(2, 3)
    before = x.clone()
    assert student.double_(x[0]).shape == (3,)
    assert torch.equal(x[0], 2 * before[0])


@check("C1", try_this="double(torch.ones(2))")
def check_kept_by_assert(student, rng):
    """Keeps its argument, by a plain assert"""
    x = rng.normal(3)
    before = x.clone()
    student.double(x)
    assert torch.equal(x, before)


@check("C1", try_this="double(torch.ones(2))")
def check_kept_by_value(student, rng):
    """Keeps its argument, by its value"""
    x = rng.normal(3)
    before = x.clone()
    student.double(x)
    assert_values(x, before, "x")


@check("C3", try_this="head(torch.ones(2))")
def check_view(student, rng):
    """Gives a view"""
    x = rng.normal(3)
    assert_view(student.head(x), x)
'''
_RULES = ("tensor", "twice", "array", "result", "in_place", "changed", "by_plain_asserts", "view")
_KEPT = ("kept_by_assert", "kept_by_value")
_ALL_PASS = dict.fromkeys((*_RULES, *_KEPT), "passed")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course whose checks work out what they expect after the call."""
    return course_of_one(tmp_path_factory.mktemp("course"), _EXERCISE, _REFERENCE, "", _CHECKS)


@pytest.fixture(scope="module")
def grade(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grade]:
    """Grades a text as a submission to that course."""
    with graded(course, tmp_path_factory.mktemp("graded"), "task") as grade:
        yield grade


@pytest.mark.parametrize("result", ["x * 0", "x"])
def test_what_is_expected_comes_from_arguments_as_they_were(grade: Grade, result: str) -> None:
    """Zeros are twice an argument that was overwritten with zeros, and of no other."""
    zeros = f"import torch\ndef double(x):\n    x[...] = 0\n    return {result}\n"
    found = grade(zeros + _OTHERS)
    assert verdicts(found) == {**_ALL_PASS, **dict.fromkeys(("tensor", "twice", "array", "result", *_KEPT), "failed")}
    assert "(your code got copies of the arguments here, because it changes one of them)" in message(found, "tensor")


@pytest.mark.parametrize("body", ["y = 2 * x\n    x[...] = 7\n    return y", "x *= 2\n    return x"])
def test_a_changed_argument_costs_the_checks_that_look_at_it(grade: Grade, body: str) -> None:
    """Who changes an argument fails the checks that compare it, in whatever words, and no other."""
    found = grade(f"import torch\ndef double(x):\n    {body}\n" + _OTHERS)
    assert verdicts(found) == {**_ALL_PASS, **dict.fromkeys(_KEPT, "failed")}


def test_a_check_that_asks_reads_what_was_made_of_its_argument(grade: Grade) -> None:
    """A check of what is changed in place, by a word for it or by plain asserts, reads it as the call left it."""
    assert verdicts(grade(_REFERENCE)) == _ALL_PASS
    found = grade("import torch\ndef double(x): return 2 * x\n" + _OTHERS.replace("mul_(2)", "zero_()"))
    assert verdicts(found) == {**_ALL_PASS, **dict.fromkeys(("in_place", "changed", "by_plain_asserts"), "failed")}


def test_without_a_reference_a_check_of_changes_stands(tmp_path: Path, course: Course) -> None:
    """In a copy without references a right answer in place is right, whatever words its check uses."""
    root = Path(shutil.copytree(course.root, tmp_path / "copy"))
    (root / "solutions/m/task/task.py").unlink()
    with graded(load_course(root), tmp_path, "task") as grade:
        assert verdicts(grade(_REFERENCE)) == _ALL_PASS
