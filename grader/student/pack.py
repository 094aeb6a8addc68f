"""`grade pack`: the zip of a hand-in, with what is wrong with its files, and a receipt, which the student keeps."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.course.layout import Places
from grader.grading.plan import RunPlan
from grader.grading.runtime import Runtime
from grader.grading.schedule import grade_submission
from grader.model import Course, Exercise, GradedExercise, HandIn, Report, Submission
from grader.model.errors import CourseError
from grader.model.files import failing_as, write_whole, zip_bytes
from grader.model.messages import Setup
from grader.model.progress import Progress
from grader.model.report import ExerciseFiles
from grader.model.score import points_text
from grader.report.safe import for_terminal
from grader.student.own import read_own_files

_RECEIPT = ".receipt.txt"
_SHORT = 12


# -- a hand-in


@dataclass(frozen=True)
class Receipt:
    """The receipt of one zip.

    Attributes:
        name: the name of the zip.
        archive: the zip.
        files: the contents of the zip, by path.
        report: the report on the files, with the time of grading.
        problems: sentences on what is wrong with the files.
    """

    name: str
    archive: bytes
    files: Mapping[str, bytes]
    report: Report
    problems: tuple[str, ...]

    def text(self) -> str:
        """Return the text of the receipt's file, by which `sha256sum --check` checks the zip.

        Its only line that is not a comment has the digest and the name of the zip.
        """
        lines = [
            f"# {for_terminal(self.report.course, one_line=True)}",
            f"# packed {self.report.graded_at}, {len(self.archive)} bytes",
            *(f"# {graded.exercise.number} {_points_line(graded)}" for graded in self.report.exercises),
            *(f"# {problem.splitlines()[0]}" for problem in self.problems),
            f"{_digest(self.archive)}  {self.name}",
            *(f"# {_digest(data)}  {for_terminal(path, one_line=True)}" for path, data in sorted(self.files.items())),
        ]
        return "\n".join(lines) + "\n"

    def lines(self) -> Iterator[str]:
        """Yield the receipt's lines for a terminal, with shortened digests of files."""
        for graded in self.report.exercises:
            exercise, folder = graded.exercise, f"{Places.of(graded.exercise).shown.as_posix()}/"
            yield f"{exercise.number} {for_terminal(exercise.title, one_line=True)}"
            yield f"      {_points_line(graded)}"
            for path, data in sorted(self.files.items()):
                if path.startswith(folder):
                    name = for_terminal(path.removeprefix(folder), one_line=True)
                    yield f"      {_digest(data)[:_SHORT]}  {name}"
        digest = _digest(self.archive)
        yield from ("", f"{self.name}, {len(self.archive):,} bytes, sha256", f"  {digest[:32]}", f"  {digest[32:]}")

    def write(self, out: Path) -> Path:
        """Write the zip and its receipt into a folder, and return the path of the receipt.

        Raises:
            CourseError: they cannot be written.
        """
        path = out / self.name
        receipt = path.with_suffix(_RECEIPT)
        with failing_as(f"{path} could not be written", "name another folder with --out"):
            write_whole(path, self.archive)
            write_whole(receipt, self.text())
        return receipt


def only_handin(course: Course) -> HandIn | None:
    """Return the only hand-in of a course; None if the course has no hand-ins.

    Raises:
        CourseError: the course has several.
    """
    if len(course.handins) > 1:
        raise CourseError(f"say which hand-in: --handin {' or '.join(handin.id for handin in course.handins)}")
    return course.handins[0] if course.handins else None


def pack(
    course: Course,
    handin: HandIn | None,
    setup: Setup,
    out: Path,
    progress: Progress,
    cells: Mapping[str, ExerciseFiles] | None = None,
) -> Receipt:
    """Grade the files of a hand-in, and return a `Receipt` with their zip.

    The receipt also has the report, and the problems of the files. Nothing is written before `Receipt.write`.

    Args:
        course: the course in the student's folder.
        handin: the hand-in whose exercises are packed; None for all.
        setup: the set-up of the run.
        out: the folder that the zip will be written to.
        progress: the progress that the run reports to.
        cells: the files that are made of a notebook's cells, by exercise; they replace files in the folder.

    Raises:
        CourseError: there is no file to pack, or the folder cannot be written to.
    """
    if not out.is_dir():
        raise CourseError(f"--out: {out} is not a folder; create it with  mkdir {out}")
    if not os.access(out, os.W_OK):  # said before anything is graded
        raise CourseError(f"{out.resolve()} cannot be written to; name another folder with --out")
    exercises = [exercise for exercise in course.exercises if handin is None or exercise.id in handin.exercises]
    submission = read_own_files(course, exercises)
    given = {exercise.id: cells[exercise.id] for exercise in exercises if cells and exercise.id in cells}
    submission = replace(submission, exercises={**submission.exercises, **given})
    files = packed_files(submission, exercises)
    if not files:
        raise CourseError(
            f"there is nothing to pack: {'; '.join(own.problem for own in submission.exercises.values())}"
        )
    plan = RunPlan(course, exercises, setup, handin=handin.id if handin else None)
    with Runtime(plan.to_run(submission), setup, progress=progress) as runtime:
        report = grade_submission(plan, submission, runtime)
    name = handin.id if handin else re.sub(r"\W+", "_", course.title).strip("_").lower() or "handin"
    return Receipt(f"{name}.zip", zip_bytes(files), files, report, tuple(_problems(submission, report)))


def packed_files(submission: Submission, exercises: Sequence[Exercise]) -> dict[str, bytes]:
    """Return the files of a submission that are graded, by their paths in the zip.

    A path is such as "exercises/01_making/passport/passport.py".
    """
    return {
        (Places.of(exercise).shown / name).as_posix(): data
        for exercise in exercises
        for name, data in submission.files_of(exercise).files.items()
    }


def _problems(submission: Submission, report: Report) -> Iterator[str]:
    """Yield a sentence for each exercise that is missing, untouched, or does not load.

    For example, "01-2 passport: the file is still the unchanged starter; it earns 0".
    """
    for graded in report.exercises:
        exercise, own = graded.exercise, submission.files_of(graded.exercise)
        if own.problem:
            texts = [own.problem]
        elif own.untouched:
            texts = ["the file is still the unchanged starter; it earns 0"]
        else:
            texts = [row.outcome.message for row in graded.checks if row.outcome.cause == "load"]
        yield from (for_terminal(f"{exercise.number} {exercise.id}: {text}") for text in texts[:1])


def _points_line(graded: GradedExercise) -> str:
    shown = [row.score for row in graded.checks if row.check.shown]
    if not shown:
        return "not run"
    earned, possible = sum(score.earned for score in shown), sum(score.possible for score in shown)
    return f"shown checks {points_text(earned)} / {points_text(possible)} points"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
