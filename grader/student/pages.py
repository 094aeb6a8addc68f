"""The lines of `grade list`, `next` and `show`: 40 to 80 columns, readable without colour."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from grader.course.layout import Places, starter_copy
from grader.model import Course, Exercise
from grader.model.errors import CourseError
from grader.model.score import in_points, points_text
from grader.report.pictures import ASCII, Drawing, lines_of
from grader.report.safe import filled, for_terminal, prose, two_sides, words_of
from grader.student.progress import Progress, Row, Standing

_NARROW = 64
_RULE = re.compile(r"C[0-9]+[.:)]?\s+")


def list_lines(course: Course, rows: Sequence[Row], width: int) -> Iterator[str]:
    """The chosen exercises below their modules, with state and points; then the totals."""
    for module in course.modules:
        mine = [row for row in rows if row.exercise.module == module.id]
        if mine:
            yield from (click.style(line, bold=True) for line in two_sides(module.title, "", width))
            for row in mine:
                yield from _list_row(row, width)
    earned, possible = sum(row.earned for row in rows), sum(row.exercise.points for row in rows)
    done = sum(row.state == "done" for row in rows)
    yield f"{done} of {len(rows)} done, {points_text(earned)} / {points_text(possible)} points"
    if any(row.fast for row in rows):
        yield from prose("* fast track: if you solve this one, you may skip the rest of its module", width)


def _list_row(row: Row, width: int) -> list[str]:
    exercise, state = row.exercise, row.state.replace("_", " ")
    points = f"{points_text(row.earned)} / {points_text(exercise.points)}"
    left = f"  {exercise.number:<5} {'*' if row.fast else ' '} {for_terminal(exercise.title, one_line=True)}"
    if width < _NARROW:
        return [*two_sides(left, "", width), f"          {state:<12}{points:>{width - 22}}"]
    minutes = f"{exercise.minutes} min" if exercise.minutes else ""
    return two_sides(left, f"{state:<12}{points:>12}{minutes:>9}", width)


def list_data(course: Course, rows: Sequence[Row], progress: Progress) -> dict[str, Any]:
    """The same for other programs."""
    return {"course": course.title, "exercises": [_row_data(row, progress.of(row.exercise.id)) for row in rows]}


def _row_data(row: Row, standing: Standing) -> dict[str, Any]:
    exercise = row.exercise
    return {
        "id": exercise.id,
        "number": exercise.number,
        "title": exercise.title,
        "module": exercise.module,
        "state": row.state,
        "earned": in_points(row.earned),
        "possible": in_points(exercise.points),
        "solved": standing.solved,
        "tries": standing.tries,
        "hints": standing.hints,
        "fast_track": row.fast,
        "difficulty": exercise.difficulty,
        "minutes": exercise.minutes,
        "topics": list(exercise.topics),
        "path": Places.of(exercise).starter.as_posix(),
    }


def next_lines(row: Row, width: int) -> Iterator[str]:
    """What to do next: which exercise, where it is, which commands."""
    exercise = row.exercise
    yield from _head(exercise, width)
    verb = "Continue with it" if row.state == "started" else "Read the task at its top, change what is marked TODO"
    yield from prose(f"{verb}, save, then run", width)
    yield f"  grade {exercise.id}"
    yield from prose("To open the file:  grade open", width)


def show_lines(course: Course, exercise: Exercise, width: int, drawing: Drawing = ASCII) -> Iterator[str]:
    """A task: its text, where it is, how hard it is, how long it takes, a picture, the checks that the student has.

    Raises:
        CourseError: its text cannot be read.
    """
    yield from _head(exercise, width)
    yield ""
    yield from _task(_docstring(exercise, starter_copy(course.root, Places.of(exercise))), exercise.title, width)
    if exercise.example is not None:
        yield ""
        yield from lines_of(exercise.example, width, drawing)
    if checks := _shown_checks(exercise):
        yield from ("", "Checks that you can read:")
        for rule, title in checks:
            yield from filled(words_of(f"{rule:<4}{for_terminal(title, one_line=True)}"), "  ", width, "    ")
        if exercise.hidden_checks is not None:
            yield from prose("Hidden checks examine the same rules on other inputs.", width)


def _head(exercise: Exercise, width: int) -> Iterator[str]:
    title = f"{exercise.number} {for_terminal(exercise.title, one_line=True)}"
    yield from (click.style(line, bold=True) for line in two_sides(title, "", width))
    minutes = f", about {exercise.minutes} minutes" if exercise.minutes else ""
    points = points_text(exercise.points)
    facts = f"{exercise.kind}, difficulty {exercise.difficulty} of 4{minutes}, {points} points"
    yield from (f"  {line}" for line in prose(facts, width - 2))
    yield f"  {typed(exercise.starter)}"


def _docstring(exercise: Exercise, copy: Path) -> str:
    """The text of a task: the student's file may be in pieces just now, so else that of another copy."""
    for file in (exercise.starter, copy):
        with suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            doc = ast.get_docstring(ast.parse(file.read_bytes()))
            if doc is not None:
                return doc
    shown = typed(exercise.starter)
    raise CourseError(f"{shown} is missing, or has lost its task. To restore the starter:  grade reset {exercise.id}")


def _task(doc: str, title: str, width: int) -> Iterator[str]:
    """The text of a task, in lines of this width; examples are left alone."""
    lines = for_terminal(doc).rstrip().split("\n")
    if lines[0].strip() == title:  # which stands above
        lines = lines[1:]
    while lines and not lines[0].strip():
        lines = lines[1:]
    paragraph: list[str] = []
    for line in lines:
        rule = _RULE.match(line)
        goes_on = paragraph and line.strip() and not rule and not line.lstrip().startswith(">>>")
        if goes_on and (not line.startswith(" ") or _RULE.match(paragraph[0])):
            paragraph.append(line.strip())
            continue
        yield from _set(paragraph, width)
        paragraph = []
        if rule or (line.strip() and not line.startswith(" ")):
            paragraph = [line.rstrip()]
        else:
            yield line.rstrip()
    yield from _set(paragraph, width)


def _set(paragraph: Sequence[str], width: int) -> Iterator[str]:
    if paragraph:
        further = "    " if _RULE.match(paragraph[0]) else ""
        yield from filled(words_of(" ".join(paragraph)), "", width, further)


def _shown_checks(exercise: Exercise) -> list[tuple[str, str]]:
    """Rule and title of each shown check, read from the text of its file: nothing is imported."""
    tree, checks = ast.Module([], []), []
    with suppress(OSError, SyntaxError, ValueError):  # `grade` says what is wrong with it
        tree = ast.parse(exercise.shown_checks.read_bytes()) if exercise.shown_checks else tree
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and (title := ast.get_docstring(node)):
            marks = [item for item in node.decorator_list if isinstance(item, ast.Call) and item.args]
            texts = [item.args[0].value for item in marks if isinstance(item.args[0], ast.Constant)]
            rules = [text for text in texts if isinstance(text, str) and _RULE.match(f"{text} ")]
            if marks:
                checks.append((rules[0] if rules else "", title.split("\n")[0]))
    return checks


def typed(path: Path) -> str:
    """A path as it is typed from here."""
    here = Path.cwd()
    inside = path.resolve().is_relative_to(here)
    return for_terminal((path.resolve().relative_to(here) if inside else path).as_posix(), one_line=True)
