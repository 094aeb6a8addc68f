"""What an exercise does on the simulated accelerator: in the checks that students see, or in lines of their own."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from grader.accelerator.spans import Span, shifted
from grader.intake.collect import read_submission
from grader.model import Check, Course, Device, Exercise
from grader.model.errors import CourseError
from grader.model.messages import Part, Setup
from grader.model.picture import Moment
from grader.runner.pool import open_lane

MOST_DRAWN = 24
"""So many moments of a run are drawn in a terminal; the file has all."""


_PAUSE_S = 1e-6


@dataclass(frozen=True)
class Traced:
    """What ran, and what took virtual time meanwhile."""

    title: str
    moments: tuple[Moment, ...]


def spans_of(runs: Sequence[Traced]) -> list[Span]:
    """The runs one after another, from 0 on, each below a span with its title."""
    spans: list[Span] = []
    now = 0.0
    for run in (run for run in runs if run.moments):
        zero, end = min(one.start for one in run.moments), max(one.end for one in run.moments)
        spans.append(Span(run.title, "run", now, now + end - zero))
        spans += shifted(run.moments, now - zero)
        now += end - zero + _PAUSE_S
    return spans


def traces(course: Course, exercise: Exercise, setup: Setup, lines: str | None) -> tuple[list[Traced], list[str]]:
    """What ran, with what took virtual time meanwhile; and what went wrong there, a line for each.

    Args:
        course: the student's folder.
        exercise: the exercise.
        setup: how workers are started.
        lines: of Python, with the names of the exercise's file; None for the checks of devices that students see, and
            the examples of the hidden ones.

    Raises:
        CourseError: it has no check of devices, the lines are not Python, or there is no file.
        GraderError: a process of ours cannot be had.
    """
    if lines is not None and not _is_python(lines):
        raise CourseError("--code is not Python; write it as you would at a prompt, such as --code 'f(torch.ones(3))'")
    submission = read_submission(course.root, [exercise], author="you")
    if problem := submission.problems.get(exercise.id):
        raise CourseError(problem)
    with open_lane([exercise], setup, hidden=(course.root,)) as lane:
        wanted = _wanted(exercise, lane.checks_of(exercise), lines)
        part = Part(frozenset(wanted), told=False, traced={id: text for id, (_, text) in wanted.items()})
        run = lane.run(exercise, submission.files[exercise.id], setup.seed, part=part)
    by_id = {outcome.check: outcome for outcome in run.outcomes}
    found = [Traced(title, by_id[id].moments) for id, (title, _) in wanted.items()]
    problems: dict[str, list[str]] = {}
    for id, (title, _) in wanted.items():
        if by_id[id].message:
            problems.setdefault(by_id[id].message, []).append(title)
    # What ends all runs alike is said once.
    return found, [f"{titles[0]}{_more(len(titles) - 1)}: {message}" for message, titles in problems.items()]


def _more(others: int) -> str:
    return f", and {others} more" if others else ""


def _wanted(exercise: Exercise, checks: list[Check], lines: str | None) -> dict[str, tuple[str, str]]:
    """By id of a check that sees the simulated device, the title of what runs, and its lines."""
    on_device = [check for check in checks if check.device is Device.SIM]
    if not on_device:
        raise CourseError(f"{exercise.id} has no check that uses a device; there is no timeline of it")
    if lines is not None:
        return {on_device[0].id: (lines, lines)}
    found = {check.id: (check.title, "") for check in on_device if check.shown}
    examples = (check for check in on_device if not check.shown and _is_python(check.try_this))
    return found | {check.id: (check.try_this, check.try_this) for check in examples}


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return bool(text.strip())
