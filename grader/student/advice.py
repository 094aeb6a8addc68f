"""What `grade` says between tries: progress is saved after a run, then a hint, the reference, what comes next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import click

from grader.model import Course, Exercise, Report
from grader.model.errors import CourseError
from grader.model.score import counted
from grader.report.safe import filled, for_terminal
from grader.student.given import is_behind, keep_starters
from grader.student.pages import prose
from grader.student.progress import Progress, next_row, read_progress, rows_of, write_progress

_TRIES = 2
_WORDS = ("first", "second", "third")


def after_run(course: Course, report: Report, width: int) -> Iterator[str]:
    """Save how far the student is, and give advice."""
    before = read_progress(course)
    after = before.after(report)
    problem = write_progress(course, after)
    if not problem:
        keep_starters(course)
    lines = [*advice(course, report, after, saved=not problem), problem or before.problem]
    if is_behind(course.root):
        lines.append("The course was changed since you got it:  grade update  brings that, and keeps your work")
    for line in filter(None, lines):
        yield from prose(line, width)


def unchanged_lines(count: int, width: int) -> Iterator[str]:
    """How many exercises were not run, and why."""
    if count:
        since = "has not changed since it was" if count == 1 else "have not changed since they were"
        text = f"{counted(count, 'exercise')} {since} last run, so this is the result of that run (--fresh runs all)"
        yield from prose(text, width)


def advice(course: Course, report: Report, progress: Progress, *, saved: bool = True) -> Iterator[str]:
    """Advice after a run, in sentences.

    Args:
        course: the course.
        report: of the run.
        progress: after it.
        saved: whether later commands know the progress: they show the reference to those who have solved the exercise.
    """
    lost = [item for item in report.exercises if item.state == "started" and item.score.earned < item.score.possible]
    if lost:
        # The exercise that the report says to fix next.
        exercise = lost[0].exercise
        standing = progress.of(exercise.id)
        if standing.tries >= _TRIES and standing.hints < len(exercise.hints):
            yield f"Stuck? The {_WORDS[standing.hints]} of three hints:  grade hint {exercise.id}"
    elif len(report.exercises) == 1 and report.exercises[0].state == "done":
        exercise = report.exercises[0].exercise
        if exercise.reference is not None and saved:
            yield f"Compare it with the reference:  grade show {exercise.id} --reference"
        elif exercise.reference is None:
            yield "The reference is not in this copy of the course."
        following = next_row(course, rows_of(course, progress), progress)
        if following is not None:
            yield f"Next: {following.exercise.number} {following.exercise.title}:  grade next"
        else:
            yield "You have solved the course."


def hints(
    course: Course, exercise: Exercise, width: int, *, again: bool = False, everything: bool = False
) -> Iterator[str]:
    """The lines of the next hint of an exercise; progress saves which were seen.

    Args:
        course: the course.
        exercise: the exercise.
        width: columns of the terminal.
        again: those that were seen, instead.
        everything: all of them, instead.

    Raises:
        CourseError: the student has seen no hint yet.
    """
    progress = read_progress(course)
    total, standing = len(exercise.hints), progress.of(exercise.id)
    seen = min(standing.hints, total)
    if again and not seen:
        raise CourseError(f"you have seen no hint of {exercise.id} yet: grade hint {exercise.id}")
    if everything:
        numbers = range(1, total + 1)
    elif again:
        numbers = range(1, seen + 1)
    else:
        numbers = range(seen + 1, min(seen + 1, total) + 1)
    if not numbers:
        yield f"You have seen all {total} hints: grade hint {exercise.id} --again"
        return
    for number in numbers:
        yield click.style(f"Hint {number} of {total} for {exercise.id}", bold=True)
        for line in for_terminal(exercise.hints[number - 1]).strip().split("\n"):
            yield from filled(line.split(" "), "  ", width, "")
    if left := total - numbers[-1]:
        yield f"{left} more: grade hint {exercise.id}"
    if numbers[-1] > seen:
        now = progress.with_(exercise.id, replace(standing, hints=numbers[-1]))
        if problem := write_progress(course, now):
            yield from prose(f"{problem}; grade hint --all shows all of them", width)
