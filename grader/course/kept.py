"""Where `grade` keeps what belongs to one folder and to no course: progress, what was found and still holds."""

from __future__ import annotations

from pathlib import Path

from grader.model import Course

_KEPT = ".grade"


def kept_folder(root: Path) -> Path:
    """Where `grade` keeps what belongs to one student and to no course: out of git's way."""
    return root / _KEPT


def kept_progress(course: Course) -> Path:
    """The file of a student's progress."""
    return kept_folder(course.root) / "progress.json"


def kept_mistakes(course: Course) -> Path:
    """The file of how known wrong answers behave."""
    return kept_folder(course.root) / "mistakes.json"


def kept_answers(course: Course) -> Path:
    """The file of what a run found of exercises that have not changed since."""
    return kept_folder(course.root) / "answers.json"


def kept_runs(course: Course, exercise: str, seeds: int) -> Path:
    """The file of what runs of an exercise's own files showed, with so many seeds: for its author."""
    return kept_folder(course.root) / "verified" / f"{exercise}.{seeds}.json"
