"""`grade hint`: the next hint of an exercise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import click

from grader.model import Course, Exercise
from grader.model.errors import CourseError
from grader.report.safe import prose
from grader.student import folder


def hint_lines(
    course: Course, exercise: Exercise, width: int, *, again: bool = False, everything: bool = False
) -> Iterator[str]:
    """Yield the lines of the next hint of an exercise, and save that it was seen.

    Args:
        course: the course.
        exercise: the exercise.
        width: columns of the terminal.
        again: True if the hints that the student has seen are shown again, in place of the next one.
        everything: True if all hints are shown, in place of the next one.

    Raises:
        CourseError: hints are to be shown again, and the student has seen none yet.
    """
    progress = folder.read_progress(course)
    total, saved = len(exercise.hints), progress.of(exercise.id)
    seen = min(saved.hints, total)
    if again and not seen:
        raise CourseError(f"you have seen no hint of {exercise.id} yet; the first one:  grade hint {exercise.id}")
    first, last = (1, total) if everything else (1, seen) if again else (seen + 1, min(seen + 1, total))
    numbers = range(first, last + 1)
    if not numbers:
        yield f"You have seen all {total} hints. To read them again:  grade hint {exercise.id} --again"
        return
    for number in numbers:
        yield click.style(f"Hint {number} of {total} for {exercise.id}", bold=True)
        yield from prose(exercise.hints[number - 1].strip(), width, "  ")
    if left := total - numbers[-1]:
        more = "is 1 more hint" if left == 1 else f"are {left} more hints"
        yield from prose(f"There {more}:  grade hint {exercise.id}", width)
    if numbers[-1] > seen:
        now = progress.with_exercise(exercise.id, replace(saved, hints=numbers[-1]))
        if problem := folder.write_progress(course, now):
            yield from prose(f"{problem}; grade hint --all shows all of them", width)
