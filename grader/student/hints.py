"""Hints, one after another; those that were seen are remembered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grader.model import Course, Exercise
from grader.model.errors import CourseError
from grader.student.pages import hint_lines, prose
from grader.student.progress import read_progress, write_progress


def taken(
    course: Course, exercise: Exercise, width: int, *, again: bool = False, everything: bool = False
) -> Iterator[str]:
    """The next hint of an exercise.

    Args:
        course: the course.
        exercise: the exercise.
        width: columns of the terminal.
        again: those that were seen, instead.
        everything: all of them, instead.

    Raises:
        CourseError: none was seen yet.
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
    yield from hint_lines(exercise, numbers, width)
    if numbers[-1] > seen:
        now = progress.with_(exercise.id, replace(standing, hints=numbers[-1]))
        if problem := write_progress(course, now):
            yield from prose(f"{problem}; grade hint --all shows all of them", width)
