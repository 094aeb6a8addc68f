"""Many submissions → Gradebook: a folder per author, one lane."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from grader.confinement import Wish
from grader.errors import GraderError, SubmissionError
from grader.grading import (
    environment,
    grade_exercise,
    is_untouched,
    not_started,
    open_lane,
    report,
    settle_exercise,
)
from grader.model import Course, Exercise, GradedExercise, Report, Submission, Verdict
from grader.report.plain import write_json, write_whole
from grader.report.safe import for_csv
from grader.score import points_text
from grader.submission import read_submission

_SEED_FILE = "seed"
_LONGEST_NAME = 200
_SHORTENED = 40


def grade_batch(
    course: Course,
    exercises: Sequence[Exercise],
    folder: Path,
    out: Path,
    start: str,
    wish: Wish,
    device: str,
    on_report: Callable[[Report, int, int], None],
) -> list[Report]:
    """Grade every author's folder and write the reports and the gradebook.

    Args:
        course: the course.
        exercises: those to grade.
        folder: has one folder for each author.
        out: where reports go; made with mode 0700.
        start: "fork" or "spawn".
        wish: how well student code is to be confined.
        device: what checks of devices run on: "sim" or "cuda".
        on_report: told each report with its place and the number of all.

    Raises:
        SubmissionError: there is no author's folder in `folder`.
        ConfinementError: student code cannot be confined as well as is asked for.
    """
    authors = find_authors(folder)
    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    (out / "reports").mkdir(exist_ok=True)
    seed = _batch_seed(out)
    reports: list[Report] = []
    open_: list[tuple[int, Submission, list[GradedExercise]]] = []
    with open_lane(exercises, start, replace(wish, hidden=(*wish.hidden, folder, out)), device) as lane:
        about = environment(seed, start, lane, device)
        for number, path in enumerate(authors, 1):
            submission = read_submission(path, exercises, path.name)
            graded = [
                not_started(exercise)
                if is_untouched(exercise, submission)
                else grade_exercise(exercise, submission, lane, seed)
                for exercise in exercises
            ]
            reports.append(_written(out, report(course, submission, graded, about)))
            on_report(reports[-1], number, len(authors))
            if _is_inconclusive(reports[-1]):
                open_.append((number, submission, graded))
        for number, submission, graded in open_:  # nothing else of ours runs now
            settled = [settle_exercise(item, submission, lane, seed) for item in graded]
            reports[number - 1] = _written(out, report(course, submission, settled, about))
            on_report(reports[number - 1], number, len(authors))
    write_whole(out / "gradebook.csv", gradebook_csv(exercises, reports))
    return reports


def find_authors(folder: Path) -> list[Path]:
    """The folders of authors, by name; links and hidden folders are not among them.

    Raises:
        SubmissionError: there is none.
    """
    if not folder.is_dir():
        raise SubmissionError(f"{folder} is not a folder with submissions")
    found = [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink() and path.name[0] != "."]
    if not found:
        raise SubmissionError(f"{folder} has no submissions: a folder for each author is expected")
    return sorted(found)


def gradebook_csv(exercises: Sequence[Exercise], reports: Sequence[Report]) -> str:
    """A row for each author: a column for each exercise, then earned, possible, undecided, late_days, final."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    ids = [exercise.id for exercise in exercises]
    writer.writerow(["author", *ids, "earned", "possible", "undecided", "late_days", "final"])
    for item in reports:
        cells = {graded.exercise.id: points_text(graded.score.earned) for graded in item.exercises}
        total = item.score
        writer.writerow(
            [
                for_csv(item.author),
                *(cells[id] for id in ids),
                points_text(total.earned),
                points_text(total.possible),
                points_text(total.undecided),
                "",
                points_text(total.earned) if not total.undecided else "",
            ]
        )
    return text.getvalue()


def _written(out: Path, graded: Report) -> Report:
    write_json(out / "reports" / f"{_file_name(graded.author)}.json", graded)
    return graded


def _is_inconclusive(graded: Report) -> bool:
    verdicts = (row.outcome.verdict for exercise in graded.exercises for row in exercise.checks)
    return Verdict.INCONCLUSIVE in verdicts


def _file_name(author: str) -> str:
    """The author's name, or its beginning with a digest where a file could not have it."""
    if len(os.fsencode(author)) <= _LONGEST_NAME:
        return author
    return f"{author[:_SHORTENED]}-{hashlib.sha256(os.fsencode(author)).hexdigest()[:16]}"


def _batch_seed(out: Path) -> int:
    """One secret seed for all authors, kept with the reports and used again when they are graded again."""
    path = out / _SEED_FILE
    if not path.exists():
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{secrets.randbits(48)}\n")
    try:
        return int(path.read_text(encoding="ascii"))
    except ValueError:
        raise GraderError(f"{path} does not hold the batch's seed; restore it, or grade into a new folder") from None
