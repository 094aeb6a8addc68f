"""What an exercise does on the simulated accelerator: in the checks that students see, and in examples."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from grader.accelerator.spans import write_trace
from grader.grading.lanes import open_lanes
from grader.model import Check, Course, Device, Exercise, Picture
from grader.model.errors import CourseError
from grader.model.files import ANOTHER_PLACE, failing_as
from grader.model.messages import Part, Setup
from grader.model.picture import Moment
from grader.report.pictures import Drawing, lines_of, timeline_spans
from grader.report.safe import for_terminal, prose
from grader.student.own import own_file

_MOST_DRAWN = 24
"""So many moments of a run are drawn in a terminal; the file has all."""


class Traced(NamedTuple):
    """What ran, and what took virtual time meanwhile."""

    title: str
    moments: tuple[Moment, ...]


def traces(course: Course, exercise: Exercise, setup: Setup) -> tuple[list[Traced], list[str]]:
    """What ran, with what took virtual time meanwhile; and what went wrong there, a line for each.

    These are the checks of devices that students see, and the examples of the hidden ones.

    Args:
        course: the student's folder.
        exercise: the exercise.
        setup: how workers are started.

    Raises:
        CourseError: it has no check of devices, or there is no file.
        GraderError: a process of ours cannot be started.
    """
    submission = own_file(course, exercise)
    with open_lanes([exercise], setup, hidden=(course.root,)) as lanes:
        wanted = _wanted(exercise, lanes.checks_of(exercise))
        part = Part(frozenset(wanted), with_tries=False, traced={id: text for id, (_, text) in wanted.items()})
        run = lanes.run(exercise, submission.of(exercise).files, setup.seed, part)
    by_id = {outcome.check: outcome for outcome in run.outcomes}
    runs = [Traced(title, by_id[id].moments) for id, (title, _) in wanted.items()]
    problems = {by_id[id].message: title for id, (title, _) in wanted.items() if by_id[id].message}
    return runs, [f"{title}: {message}" for message, title in problems.items()]  # what ends all runs alike is said once


def traced_lines(runs: Sequence[Traced], width: int, drawing: Drawing) -> Iterator[str]:
    """A timeline of each run in which something took time."""
    for run in (run for run in runs if run.moments):
        yield from prose(for_terminal(run.title, one_line=True), width)
        left_out = max(0, len(run.moments) - _MOST_DRAWN)
        for line in lines_of(Picture(moments=run.moments[:_MOST_DRAWN], left_out=left_out), width - 2, drawing):
            yield from prose(line, width, "  ", "  ") if drawing.plain else [f"  {for_terminal(line, one_line=True)}"]
        yield ""


def write_runs(runs: Sequence[Traced], path: Path) -> None:
    """Write what took time as a trace for Perfetto and Chrome.

    Raises:
        CourseError: nothing took time, or the file cannot be written.
    """
    if not any(run.moments for run in runs):
        raise CourseError("your code did nothing on the device")
    with failing_as(f"{path} cannot be written", f"{ANOTHER_PLACE} with --out"):
        write_trace(timeline_spans(runs), path)


def _wanted(exercise: Exercise, checks: list[Check]) -> dict[str, tuple[str, str]]:
    """By id of a check that sees the simulated device, the title of what runs, and its lines."""
    on_device = [check for check in checks if check.device is Device.SIM]
    if not on_device:
        raise CourseError(f"{exercise.id} has no check that uses a device, so it has no timeline")
    shown = {check.id: (check.title, "") for check in on_device if check.shown}
    examples = (check for check in on_device if not check.shown and _is_python(check.try_this))
    return shown | {check.id: (check.try_this, check.try_this) for check in examples}


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return bool(text.strip())
