"""A source notebook of nbgrader, which has its marks in the metadata of cells."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from grader.author.port.assignment import Assignment, number_of, python_of_cell
from grader.author.port.cells import Row, mark_scheme, without_marks
from grader.author.port.text import top_statements
from grader.model.score import pluralize

_HIDDEN = re.compile(
    r"^[ \t]*#+ *BEGIN HIDDEN TESTS[ \t]*\n(.*?)^[ \t]*#+ *END HIDDEN TESTS[ \t]*\n?", re.M | re.DOTALL
)
_AUTOTEST = re.compile(r"^[ \t]*#[# \t]*AUTOTEST\b(.*)$", re.MULTILINE)


def read_nbgrader(rows: Sequence[Row]) -> Assignment:
    """Return the assignment in an nbgrader notebook.

    It has the code, the tests, the points, and notes on what a person grades.
    """
    made = Assignment("nbgrader")
    for number, (kind, source, metadata, _) in enumerate(rows, 1):
        marks = metadata.get("nbgrader", {})
        graded, solved = marks.get("grade") is True, marks.get("solution") is True
        if (is_task := marks.get("task") is True) or (graded and (solved or kind != "code")):
            _add_question_by_hand(made, marks, source, is_task=is_task)
        elif kind == "markdown" and not solved:
            made.add_words_between(source, number)
        if kind != "code":
            continue
        if not graded and not solved:
            made.add_given_cell(source, number)
            continue
        code = python_of_cell(source, number)
        if not solved:
            _add_test_cell(made, marks, code, number)
            continue
        # A question may have several cells, of which a heading begins the first.
        if not graded and made.has_words_between():
            made.begin_question(str(marks.get("grade_id", "")))
        made.add_code(code, is_solution=True)
    made.leave_out_words_between()
    return made


def _add_question_by_hand(made: Assignment, marks: Mapping[str, Any], source: str, *, is_task: bool) -> None:
    """Add a cell that a person grades.

    Args:
        made: the assignment.
        marks: the metadata of nbgrader.
        source: the source of the cell: the model answer, or in a task the words of the question.
        is_task: True if the cell is a task.
    """
    question = made.begin_question(str(marks.get("grade_id", "")))
    question.points = number_of(marks.get("points")) or Fraction(0)
    if is_task:
        made.add_words(source)
    question.answer = mark_scheme(source) if is_task else without_marks(source)
    made.by_hand.append(question)


def _add_test_cell(made: Assignment, marks: Mapping[str, Any], code: str, number: int) -> None:
    """Add the tests of a cell: its shown part, and its hidden one.

    Of a cell "q1" with both parts, these are the tests `q1` and `q1_hidden`, each with half of the points.

    Args:
        made: the assignment.
        marks: the metadata of nbgrader.
        code: the code of the cell.
        number: the number of the cell.
    """
    name, points = str(marks.get("grade_id", "")), number_of(marks.get("points"))
    made.leave_out_words_between()
    if autotests := _AUTOTEST.findall(code):
        lines = f"{pluralize(len(autotests), 'line')} such as AUTOTEST {autotests[0].strip()}"
        made.autotests.append(f"{name} has {lines}: compare each with `reference` in a hidden check")
    parts = {name: _HIDDEN.sub("", code), f"{name}_hidden": "\n".join(_HIDDEN.findall(code))}
    parts = {part: textwrap.dedent(test) for part, test in parts.items() if _does_something(test)}
    if len(parts) > 1:
        visible, hidden = parts.values()
        parts[f"{name}_hidden"] = _visible_setup(visible, hidden) + hidden
    credits = {part: _partial_credit(test) for part, test in parts.items()}
    divided = sum((share for each in credits.values() for _, share in each or ()), Fraction(0))
    others = [part for part, each in credits.items() if not each]
    for part, test in parts.items():
        for code_of_part, share in credits[part] or ():
            made.add_test(part, code_of_part, share, is_hidden=part != name, cell=number)
        if part in others:
            own = max(Fraction(0), points - divided) / len(others) if points is not None else None
            key = made.add_test(part, test, own, is_hidden=part != name, cell=number)
            made.ends_with_points |= {key} if credits[part] is not None else set()


def _partial_credit(test: str) -> list[tuple[str, Fraction]] | None:
    """Return the parts of a test for each of which nbgrader adds points, each with them.

    If the last line of a test is a number, nbgrader takes it as the points. `n = 0`, `if x > 0:` with `n += 2`, and `n`
    have the part `("assert x > 0", 2)`. Return None if the last line has no points, and [] if the parts are unclear.
    """
    match ast.parse(test).body:
        case [*before, ast.Expr(value=ast.Name(id=total))]:
            pass
        case [*_, ast.Expr(value=ast.BinOp() | ast.UnaryOp() | ast.IfExp())]:
            return []
        case _:
            return None
    setup, parts = list[str](), list[tuple[str, Fraction]]()
    for node in before:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=0)) if name == total:
                continue
            case ast.If(
                test=condition, body=[ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value)], orelse=[]
            ) if name == total and (share := _number_in(value)) is not None:
                parts.append(("\n".join([*setup, f"assert {ast.unparse(condition)}"]), share))
            case _ if any(isinstance(one, ast.Name) and one.id == total for one in ast.walk(node)):
                return []
            case _:
                setup.append(ast.unparse(node))
    return parts


def _number_in(node: ast.expr) -> Fraction | None:
    """Return the number of an expression such as `0.75 / 4`; None if it has anything but numbers."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return number_of(value)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            one, two = _number_in(left), _number_in(right)
            return one / two if one is not None and two else None
    return None


def _visible_setup(visible: str, hidden: str) -> str:
    """Return what the hidden part of a test cell needs of the visible part.

    It is the visible part without its asserts and prints: of `x = f(1)` and `assert x > 0` it is the line `x = f(1)`.
    Return "" if the hidden part uses no variable of the visible part.
    """
    body = ast.parse(visible).body
    used = {node.id for node in ast.walk(ast.parse(hidden)) if isinstance(node, ast.Name)}
    if not used & {name for item in top_statements(visible, with_parameters=False) for name in item.binds}:
        return ""
    texts = map(ast.unparse, body)
    kept = (text for text in texts if not re.match(r"(assert|([\w.]+\.)?assert_?\w*\(|print\()", text))
    return "".join(f"{text}\n" for text in kept)


def _does_something(source: str) -> bool:
    """Return whether a text contains a statement, and not only comments."""
    return bool(ast.parse(textwrap.dedent(source)).body)
