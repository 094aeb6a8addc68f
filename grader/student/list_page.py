"""`grade list` and `grade next`: exercises with state and points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from grader.course.layout import Places
from grader.model import Course
from grader.model.report import PASSES_HERE
from grader.model.score import in_points, points_text
from grader.report.safe import for_terminal, prose, two_sided_lines
from grader.student.rows import Row
from grader.student.task_page import heading_lines

_NARROW = 64


# -- lines


def list_lines(course: Course, rows: Sequence[Row], width: int) -> Iterator[str]:
    """Yield the lines of `grade list`: exercises below their modules, then the totals.

    Args:
        course: the course of the exercises.
        rows: the rows of the chosen exercises.
        width: the width of a line, in characters.
    """
    for module in course.modules:
        mine = [row for row in rows if row.exercise.module == module.id]
        if mine:
            yield from (click.style(line, bold=True) for line in two_sided_lines(module.title, "", width))
            for row in mine:
                yield from _list_row(row, width)
    earned, possible = sum(row.earned for row in rows), sum(row.possible for row in rows)
    done = sum(row.state == "done" for row in rows)
    withheld = sum(row.exercise.withheld.points for row in rows)
    total = f"{points_text(earned)} / {points_text(possible)} points"
    if withheld:
        passing = sum(row.state == PASSES_HERE for row in rows)
        counts = f"shown checks pass in {passing} of {len(rows)}, {total}, {points_text(withheld)} more at hand-in"
        yield from prose(f"{done} done, {counts}" if done else counts.capitalize(), width)
    else:
        yield f"{done} of {len(rows)} done, {total}"
    if any(row.is_on_fast_track for row in rows):
        yield from prose("* fast track: if you solve this one, you may skip the rest of its module", width)


def _list_row(row: Row, width: int) -> list[str]:
    exercise, state = row.exercise, row.state.replace("_", " ")
    points = f"{points_text(row.earned)} / {points_text(row.possible)}"
    left = (
        f"  {exercise.number:<5} {'*' if row.is_on_fast_track else ' '} {for_terminal(exercise.title, one_line=True)}"
    )
    if width < _NARROW:
        return [*two_sided_lines(left, "", width), f"          {state:<12}{points:>{width - 22}}"]
    minutes = f"{exercise.minutes} min" if exercise.minutes else ""
    return two_sided_lines(left, f"{state:<12}{points:>12}{minutes:>9}", width)


def list_data(course: Course, rows: Sequence[Row]) -> dict[str, Any]:
    """Return what `grade list --json` prints.

    The key `course` has the title of the course, and `exercises` a list with a dict for each row.
    """
    return {"course": course.title, "exercises": [_row_data(row) for row in rows]}


def _row_data(row: Row) -> dict[str, Any]:
    """Return the row of an exercise as `grade list --json` prints it."""
    exercise, saved = row.exercise, row.progress
    return {
        "id": exercise.id,
        "number": exercise.number,
        "title": exercise.title,
        "module": exercise.module,
        "state": row.state,
        "earned": in_points(row.earned),
        "possible": in_points(exercise.points),
        "solved": saved.solved,
        "tries": saved.tries,
        "hints": saved.hints,
        "fast_track": row.is_on_fast_track,
        "difficulty": exercise.difficulty,
        "minutes": exercise.minutes,
        "topics": list(exercise.topics),
        "path": Places.of(exercise).starter.as_posix(),
    }


def next_exercise_lines(row: Row, width: int) -> Iterator[str]:
    """Yield the lines of `grade next`: the exercise, its file, and the commands to run."""
    exercise = row.exercise
    yield from heading_lines(exercise, width)
    verb = "Continue with it" if row.state == "started" else "Read the task at its top, change what is marked TODO"
    yield from prose(f"{verb}, save, then run", width)
    yield f"  grade {exercise.id}"
    yield from prose("To open the file:  grade open", width)
