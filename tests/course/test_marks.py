"""The sentences about marks: they stand in no task, only where marks are given."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.marks import caps_text, with_caps_text
from grader.model import Course
from grader.model.errors import CourseError

SHOWN, WHOLE = "If a shown check of C1 fails, you get at most 4 points.", "If you break C1, you get at most 6 points."


@pytest.mark.parametrize(
    ("caps", "told"),
    [
        ({}, ""),
        ({"C3": 300}, "If you break C3, you get at most 3 points."),
        ({"C1": 600, "small": 400}, f"{SHOWN} {WHOLE}"),
        ({"C1": 450, "C2": 450, "C3": 450}, "If you break a rule, you get at most 4.5 points."),
        ({"random": 600}, "If some hidden checks of C1 fail, you get at most 6 points."),
        ({"C2": 400, "small": 400}, "If you break C2, or if a shown check of C1 fails, you get at most 4 points."),
        ({"small": 400, "in_place": 400}, "If you break C3, or if a shown check fails, you get at most 4 points."),
    ],
)
def test_what_rules_cost(tiny: Course, caps: Mapping[str, int], told: str) -> None:
    """A rule is named if all of its checks cap the points, else its checks as shown and hidden ones."""
    assert caps_text(replace(tiny.exercises[0], caps=caps)) == told


def test_a_copy_has_them_in_the_task(tiny: Course) -> None:
    """They end the task of a starter; all other bytes stay."""
    capped = replace(tiny.exercises[0], caps={"C3": 300})
    source = capped.starter.read_bytes()
    made = with_caps_text(capped, source)
    assert (ast.get_docstring(ast.parse(made)) or "").endswith("\n\nIf you break C3, you get at most 3 points.")
    assert made.replace(b"\nIf you break C3, you get at most 3 points.\n", b"") == source
    assert with_caps_text(tiny.exercises[0], source) == source


def test_a_task_in_single_quotes_is_refused(tiny: Course) -> None:
    """Nothing can be added to it, so its author is told; what is not Python, or has no task, stays as it is."""
    capped = replace(tiny.exercises[0], caps={"C3": 300})
    with pytest.raises(CourseError, match="write the task in triple quotes"):
        with_caps_text(capped, b"'Task'\n")
    assert [with_caps_text(capped, text) for text in (b"def (:", b"a = 1\n")] == [b"def (:", b"a = 1\n"]


def test_no_task_of_the_course_has_them() -> None:
    """Rules and marks are told apart: no task of the bundled course names points."""
    tasks = [path for path in Path(__file__).parents[2].glob("exercises/*/*/*.py") if path.stem == path.parent.name]
    texts = [ast.get_docstring(ast.parse(path.read_bytes())) or "" for path in tasks]
    assert len(texts) > 40
    assert [text for text in texts if "you get at most" in " ".join(text.split())] == []
