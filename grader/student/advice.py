"""What `grade` says after a run, besides the report: a hint after two tries, the reference, what comes next."""

from __future__ import annotations

from collections.abc import Iterator

from grader.model import Course, Report
from grader.student.pages import prose, which_hint
from grader.student.progress import Progress
from grader.student.rows import next_row, rows_of

_TRIES = 2


def advice_lines(course: Course, report: Report, progress: Progress, width: int, *, kept: bool = True) -> Iterator[str]:
    """Advice after a run.

    Args:
        course: the course.
        report: of the run.
        progress: after it.
        width: columns of the terminal.
        kept: whether that is known to later commands: the reference is shown to those who have solved the exercise.
    """
    for line in _advice(course, report, progress, kept=kept):
        yield from prose(line, width)


def _advice(course: Course, report: Report, progress: Progress, *, kept: bool) -> Iterator[str]:
    lost = [item for item in report.exercises if item.state == "started" and item.score.earned < item.score.possible]
    if lost:
        # That which the report says is to be mended next.
        exercise = lost[0].exercise
        standing = progress.of(exercise.id)
        if standing.tries >= _TRIES and standing.hints < len(exercise.hints):
            yield f"Stuck? The {which_hint(standing.hints + 1)} of three hints:  grade hint {exercise.id}"
    elif len(report.exercises) == 1 and report.exercises[0].state == "done":
        exercise = report.exercises[0].exercise
        if exercise.reference is not None and kept:
            yield f"Compare it with the reference:  grade show {exercise.id} --reference"
        elif exercise.reference is None:
            yield "The reference is not in this copy of the course."
        following = next_row(course, rows_of(course, progress), progress)
        if following is not None:
            yield f"Next: {following.exercise.number} {following.exercise.title}:  grade next"
        else:
            yield "You have solved the course."
