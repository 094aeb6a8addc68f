"""A submission → one zip, as `archive` reads it: each file at its place in the course."""

from __future__ import annotations

from collections.abc import Sequence

from grader.course.layout import Places
from grader.model import Exercise, Submission


def packed_files(submission: Submission, exercises: Sequence[Exercise]) -> dict[str, bytes]:
    """The files that grading reads of a submission, by their paths in the zip."""
    return {
        (Places.of(exercise).shown / name).as_posix(): data
        for exercise in exercises
        for name, data in submission.files.get(exercise.id, {}).items()
    }
