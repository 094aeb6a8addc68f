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


def kept_results(course: Course) -> Path:
    """The store of earlier results: a student's exercises, an author's answers, how known wrong answers behave."""
    return kept_folder(course.root) / "results.sqlite"
