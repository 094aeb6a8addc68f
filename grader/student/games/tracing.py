"""What an exercise does on the simulated accelerator: in the checks that students see, or in lines of their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from grader.accelerator.timeline import Span, shift_spans, write_trace
from grader.grading.runtime import Runtime
from grader.model import Check, Course, Exercise, Picture
from grader.model.errors import CourseError
from grader.model.files import ANOTHER_PLACE, failing_as
from grader.model.messages import CheckSelection, Setup
from grader.model.picture import Moment
from grader.report.pictures import lines_of
from grader.report.safe import for_terminal, prose
from grader.student.own import read_own_file

_PAUSE_S = 1e-6
_MOST_DRAWN = 24
"""So many moments of a run are drawn in a terminal; the file has all."""


class TracedRun(NamedTuple):
    """A run on the simulated device, and what took virtual time in it."""

    title: str
    moments: tuple[Moment, ...]


def trace_runs(
    course: Course, exercise: Exercise, setup: Setup, lines: str | None
) -> tuple[list[TracedRun], list[str]]:
    """Run an exercise's code on the simulated device, and return the timelines.

    Args:
        course: the student's folder.
        exercise: the exercise.
        setup: the set-up of the lanes.
        lines: lines of Python to run, which may use the names of the exercise's file; None to run the shown checks of
            devices and the examples of the hidden ones.

    Returns:
        The runs with their timelines, and lines on problems.

    Raises:
        CourseError: the exercise has no check of devices, the lines are not Python, or there is no file.
        GraderError: a process of ours cannot be started.
    """
    if lines is not None and not _is_python(lines):
        raise CourseError("--code is not Python; write it as you would at a prompt, such as --code 'f(torch.ones(3))'")
    submission = read_own_file(course, exercise)
    with Runtime([exercise], setup, hidden=(course.root,)) as runtime:
        wanted = _runs_by_check(exercise, runtime.checks_of(exercise), lines)
        selection = CheckSelection(
            frozenset(wanted), with_tries=False, traced={id: text for id, (_, text) in wanted.items()}
        )
        run = runtime.run(exercise, submission.files_of(exercise).files, setup.seed, selection)
    by_id = {outcome.check: outcome for outcome in run.outcomes}
    runs = [TracedRun(title, by_id[id].moments) for id, (title, _) in wanted.items()]
    problems: dict[str, list[str]] = {}
    for id, (title, _) in wanted.items():
        if by_id[id].message:
            problems.setdefault(by_id[id].message, []).append(title)
    # What ends all runs alike is said once.
    more = {message: f", and {len(titles) - 1} more" if titles[1:] else "" for message, titles in problems.items()}
    return runs, [f"{titles[0]}{more[message]}: {message}" for message, titles in problems.items()]


def traced_lines(runs: Sequence[TracedRun], width: int, *, plain: bool) -> Iterator[str]:
    """Yield a timeline of each run in which something took virtual time.

    Args:
        runs: the runs of the checks.
        width: the width of a line, in characters.
        plain: True if sentences replace timelines.
    """
    for run in (run for run in runs if run.moments):
        yield from prose(for_terminal(run.title, one_line=True), width)
        left_out = max(0, len(run.moments) - _MOST_DRAWN)
        for line in lines_of(Picture(moments=run.moments[:_MOST_DRAWN], left_out=left_out), width - 2, plain=plain):
            yield f"  {for_terminal(line, one_line=True)}"
        yield ""


def write_runs(runs: Sequence[TracedRun], path: Path) -> None:
    """Write the timelines of runs as a trace file for Perfetto and Chrome.

    Raises:
        CourseError: nothing took virtual time, or the file cannot be written.
    """
    if not any(run.moments for run in runs):
        raise CourseError("your code did nothing on the device; run lines of your own with --code")
    with failing_as(f"{path} cannot be written", f"{ANOTHER_PLACE} with --out"):
        write_trace(spans_of(runs), path)


def spans_of(runs: Sequence[TracedRun]) -> list[Span]:
    """Return the spans of all runs, one run after another from time 0.

    For runs of 0.5 and 0.25 virtual seconds, those of the second begin at 0.500001. Each run has one more span, as long
    as the run, with its title.
    """
    spans: list[Span] = []
    now = 0.0
    for title, moments in (run for run in runs if run.moments):
        zero, end = min(one.start for one in moments), max(one.end for one in moments)
        spans.append(Span(title, "run", now, now + end - zero))
        spans += shift_spans(moments, now - zero)
        now += end - zero + _PAUSE_S
    return spans


def _runs_by_check(exercise: Exercise, checks: list[Check], lines: str | None) -> dict[str, tuple[str, str]]:
    """Return the runs on the simulated device: a title and lines to run, by check id.

    A shown check has its title and "", which runs the check itself: `{"on_gpu": ("It runs on the GPU", "")}`. A hidden
    check has its example as title and as lines.

    Args:
        exercise: the exercise.
        checks: all checks of the exercise.
        lines: the only lines to run, in place of the first check of devices; None to run the checks and examples.
    """
    on_device = [check for check in checks if check.device.is_simulated]
    if not on_device:
        raise CourseError(f"{exercise.id} has no check that uses a device, so it has no timeline")
    if lines is not None:
        return {on_device[0].id: (lines, lines)}
    shown = {check.id: (check.title, "") for check in on_device if check.shown}
    examples = (check for check in on_device if not check.shown and _is_python(check.try_this))
    return shown | {check.id: (check.try_this, check.try_this) for check in examples}


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return bool(text.strip())
