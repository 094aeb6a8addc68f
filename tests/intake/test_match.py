"""Which exercise a file is of: by its name, however it was changed on the way, and by what is in it."""

from __future__ import annotations

import pytest

from grader.intake.match import Name, Version, exercise_of_file_name, match_by_contents
from grader.model import Course


@pytest.mark.parametrize(
    ("names", "version", "owner"),
    [
        ("double.py|DOUBLE.PY|double.py.txt|double.ipynb|01-1.py", (0, 0, 0), ""),
        ("double (1).py|double - Copy.py|Copy of double.py|double_copy.py", (0, 0, 1), ""),
        ("double(2).py|Double (1)-2.py", (0, 0, 2), ""),
        ("double-3.py", (0, 0, 3), ""),
        ("week1_double.py", (0, 0, 0), "week1"),
        ("double-ada (1).py", (0, 0, 1), "ada"),
        ("double_group_3.py", (0, 0, 3), "group_3"),
        ("DoubleV12.py", (0, 12, 0), ""),
        ("double version 3 (1).py", (0, 3, 1), ""),
        ("ada_double_v2.py", (0, 2, 0), "ada"),
        ("double_final.py", (1, 0, 0), ""),
        ("double_final2.py", (3, 0, 0), ""),
        ("double_v2_final.py", (1, 2, 0), ""),
        ("double_old.py", (-1, 0, 0), ""),
    ],
)
def test_changed_names(tiny: Course, names: str, version: tuple[int, int, int], owner: str) -> None:
    """Case, versions, copies: all of them are the exercise's; what stands before or behind it is the author's."""
    for name in names.split("|"):
        assert exercise_of_file_name(name, tiny.exercises) == Name("double", Version(*version), owner), name


def test_other_names(tiny: Course) -> None:
    """A name that only looks alike, a test of the student's own, a check of ours, a text: none is an answer."""
    endless = "v-1" * 80 + ".py"  # not all of its marks are taken off, so that it is read quickly
    for name in ("doubles.py", "test_double.py", "check_double.py", "double.csv", "helper.py", ".py", endless):
        assert exercise_of_file_name(name, tiny.exercises) is None, name


@pytest.mark.parametrize(
    ("source", "exercise", "how"),
    [
        (b"def total(x):\n    return x\n", "total", ""),
        (b"if True:\n    total = lambda x: x\n", "total", ""),
        (b"def double(x): 0\ndef total(x): 0\ndef double_(x): 0\n", "double total", ""),
        (b"def double(x): 0\n", "", "it has neither the name nor the functions of an exercise"),
        (b'"""\ndef total(x): 0\n"""\n', "", "it has neither the name nor the functions of an exercise"),
        (b"    def total(x): 0\n", "", "it has neither the name nor the functions of an exercise"),
        (b'"""\ndef total(x): 0\n"""\n', "", "it has neither the name nor the functions of an exercise"),
        (b"def total(x): 0\n# of which (\nx = (", "total", ""),
        (b"\xff\0", "", "it has neither the name nor the functions of an exercise"),
    ],
)
def test_contents(tiny: Course, source: bytes, exercise: str, how: str) -> None:
    """All functions of the starter, for each exercise; a text in quotes defines none."""
    found, told = match_by_contents(source, tiny.exercises)
    assert found == exercise.split()
    assert told.startswith(how)
