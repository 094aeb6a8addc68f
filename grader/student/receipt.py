"""What a student keeps of a hand-in: which files, their digests, when, and the points of the checks that they see."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grader.course.layout import Places
from grader.model import GradedExercise, Report
from grader.model.score import points_text
from grader.report.safe import for_terminal

_SHORT = 12


@dataclass(frozen=True)
class Receipt:
    """Of one zip.

    Attributes:
        name: of the zip.
        archive: the zip.
        files: what is in it, by path.
        report: what grading found, with its time.
        problems: what was packed nevertheless.
    """

    name: str
    archive: bytes
    files: Mapping[str, bytes]
    report: Report
    problems: tuple[str, ...]

    def text(self) -> str:
        """All of it; its lines with digests are those that `sha256sum --check` reads."""
        lines = [
            f"# {for_terminal(self.report.course, one_line=True)}",
            f"# packed {self.report.graded_at}, {len(self.archive)} bytes",
            *(f"# {graded.exercise.number} {_points(graded)}" for graded in self.report.exercises),
            *(f"# {problem.splitlines()[0]}" for problem in self.problems),
            f"{_digest(self.archive)}  {self.name}",
            *(f"# {_digest(data)}  {for_terminal(path, one_line=True)}" for path, data in sorted(self.files.items())),
        ]
        return "\n".join(lines) + "\n"

    def lines(self) -> Iterator[str]:
        """What is printed: digests are cut, as the file has them in full."""
        for graded in self.report.exercises:
            exercise, folder = graded.exercise, f"{Places.of(graded.exercise).shown.as_posix()}/"
            yield f"{exercise.number} {for_terminal(exercise.title, one_line=True)}"
            yield f"      {_points(graded)}"
            for path, data in sorted(self.files.items()):
                if path.startswith(folder):
                    name = for_terminal(path.removeprefix(folder), one_line=True)
                    yield f"      {_digest(data)[:_SHORT]}  {name}"
        yield ""
        yield f"{self.name}, {len(self.archive):,} bytes, sha256"
        digest = _digest(self.archive)
        yield from (f"  {digest[:32]}", f"  {digest[32:]}")


def _points(graded: GradedExercise) -> str:
    shown = [row.score for row in graded.checks if row.check.shown]
    if not shown:
        return "not run"
    earned, possible = sum(score.earned for score in shown), sum(score.possible for score in shown)
    return f"shown checks {points_text(earned)} / {points_text(possible)} points"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
