"""A check that fails carries the facts of a picture where the student has the check, and none where it is hidden."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click
import pytest
from check_process import courses
from check_process.courses import course_of_one
from support import Grade

from grader.model import Environment, GradedExercise, Picture, Report
from grader.model.picture import Grid, NamedShape, Shapes, View
from grader.report.html import page
from grader.report.schema import report_json
from grader.report.terminal import exercise_lines

_EXERCISE = '''"""Drawn

C1  `table(x)` returns x with 0 on the diagonal.
C2  `window(x)` returns the first row of x, a view.
C3  `minus(a, b)` returns a - b, of a's shape.
C4  `turned(x)` returns the transpose of x, a view.
"""

''' + "".join(
    f"def {head}: raise NotImplementedError  # TODO\n" for head in ("table(x)", "window(x)", "minus(a, b)", "turned(x)")
)
_REFERENCE = """
import torch
def table(x): return x - torch.diag(x.diagonal())
def window(x): return x[0]
def minus(a, b): return a - b.reshape(a.shape)
def turned(x): return x.t()
"""
_CHECKS = '''
import torch

from grader.check import assert_memory_layout, assert_shape, assert_shares_memory, assert_values, check

SQUARE = [[1.0, 2.0], [3.0, 4.0]]


@check("C1")
def check_table{0}(student):
    """Zeros on the diagonal"""
    assert_values(student.table(torch.tensor(SQUARE)), torch.tensor([[0.0, 2.0], [3.0, 0.0]]))


@check("C2")
def check_window{0}(student):
    """The first row, a view"""
    x = torch.tensor(SQUARE)
    assert_shares_memory(student.window(x), x, "window(x)", "x")


@check("C3")
def check_minus{0}(student):
    """A column minus a vector"""
    assert_shape(student.minus(torch.ones(2, 1), torch.ones(2)), (2, 1))
    assert_shape(student.minus(torch.ones(2, 3), torch.ones(3, 2)), (2, 3))


@check("C4")
def check_turned{0}(student):
    """The layout of a transpose"""
    assert_memory_layout(student.turned(torch.tensor(SQUARE)), torch.tensor(SQUARE).t())
'''
WRONG = """
import torch
def table(x): return x
def window(x): return x[0].clone()
def minus(a, b): return a - b
def turned(x): return x.t().contiguous()
"""


@pytest.fixture(scope="module")
def grade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grade]:
    """Grades a text as the one exercise of a course."""
    folder = tmp_path_factory.mktemp("drawn")
    hidden = _CHECKS.format("_again").replace('@check("C', '@check(try_this="1", contract="C')
    course = course_of_one(folder / "course", _EXERCISE, _REFERENCE, _CHECKS.format(""), hidden)
    with courses.graded(course, folder, "task") as grade:
        yield grade


@pytest.fixture(scope="module")
def graded(grade: Grade) -> GradedExercise:
    """A wrong answer to all of it."""
    return grade(WRONG)


def test_a_shown_check_has_the_picture_of_its_property(graded: GradedExercise) -> None:
    """A grid of wrong values, a storage of its own, a shape that comes by broadcasting, and strides beside strides."""
    rows = {row.check.id: row.outcome for row in graded.checks if row.check.shown}
    table, window, minus, turned = (rows[id].picture for id in ("table", "window", "minus", "turned"))
    assert table and window and minus and turned
    assert table.grid == Grid((("0", "2"), ("3", "0")), (("1", "2"), ("3", "4")), ((True, False), (False, True)), 2)
    assert table.said in rows["table"].message
    assert window.views == (View("x", (2, 2), (2, 1), 0, 4, 0), View("window(x)", (2,), (1,), 0, 2, 1))
    arguments = NamedShape("argument 1", (2, 1)), NamedShape("argument 2", (2,))
    assert minus.shapes == Shapes(arguments, broadcast=True, expected=(2, 1))
    assert [(view.name, view.strides) for view in turned.views] == [("expected", (1, 2)), ("got", (2, 1))]


def test_a_report_has_the_facts(graded: GradedExercise) -> None:
    """Its JSON has them as data, and null for a hidden check that fails in the same way; a page has each drawn once."""
    environment = Environment("3", "2", "2", "os", "cpu", 1, 0, "fork", None, "0")
    report = Report("Drawn", None, "somebody", "", "", (graded,), environment)
    (told,) = json.loads(report_json(report))["exercises"]
    rows = [(row["verdict"], row["shown"], row["picture"] is not None) for row in told["checks"]]
    assert rows == [("failed", True, True)] * 4 + [("failed", False, False)] * 4
    assert told["checks"][0]["picture"]["grid"]["wrong"] == [[True, False], [False, True]]
    assert page(report).count("<svg") == 4


def test_the_terminal_draws_below_the_message(graded: GradedExercise) -> None:
    """The picture takes the place of the two lines that say the same, and stands above the rule."""
    lines = [click.unstyle(line).strip() for line in exercise_lines(graded, 80, every=True)]
    place = lines.index("the result has the wrong values: 2 of 4 elements are wrong")
    assert lines[place + 1 : place + 7] == [
        "expected     got",
        "┌───┬───┐    ┌───┬───┐",
        "│ 0 │ 2 │    │>1<│ 2 │",
        "│ 3 │ 0 │    │ 3 │>4<│",
        "└───┴───┘    └───┴───┘",
        "> < marks wrong elements",
    ]
    assert lines[place + 7].startswith("C1  ")


def test_operands_that_clash_are_aligned(grade: Grade) -> None:
    """Where PyTorch refuses the arguments' own shapes these are drawn; other operands are not known, and not drawn."""
    found = []
    for line in ("a - b.reshape(a.shape) if b.dim() == 1 else a - b", "torch.ones(3, 2) + torch.ones(3)"):
        outcomes = {row.check.id: row.outcome for row in grade(WRONG.replace("a - b", line)).checks}
        assert outcomes["minus"].verdict.value == "crashed"
        found.append(outcomes["minus"].picture)
    rows = NamedShape("argument 1", (2, 3)), NamedShape("argument 2", (3, 2))
    assert found == [Picture(shapes=Shapes(rows, broadcast=True)), None]
