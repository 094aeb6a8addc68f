"""Many submissions → reports and a gradebook: a folder per author, one lane."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from grader.diagnosis.diagnose import diagnose
from grader.diagnosis.known import Known
from grader.export.gradebook_csv import gradebook_csv
from grader.grading import Sheet, grade_submission, repeats
from grader.intake.archive import ZIP, opened
from grader.intake.folder import read_submission
from grader.lanes.open import open_lane
from grader.model import Exercise, Report, Submission
from grader.model.errors import GraderError, SubmissionError
from grader.report.as_json import write_json, write_whole

_REPORTS = "reports"
_SEED_FILE = "seed"
_MISTAKES_FILE = "mistakes.json"
_SECRET_BYTES = 32
_LONGEST_NAME = 200
_SHORTENED = 40


def grade_batch(
    sheet: Sheet,
    folder: Path,
    out: Path,
    on_report: Callable[[Report, int, int], None],
) -> list[Report]:
    """Grade every author's folder and write the reports and the gradebook.

    Args:
        sheet: what is to be graded; its secret is the batch's own, which is kept in `out`.
        folder: has one folder or zip for each author.
        out: where reports go; made with mode 0700.
        on_report: told each report with its place and the number of all; what is repeated is told then.

    Raises:
        SubmissionError: there is nobody's folder or zip in `folder`, or somebody has two.
        ConfinementError: student code cannot be confined as well as is asked for.
    """
    authors = find_authors(folder)
    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    (out / _REPORTS).mkdir(exist_ok=True)
    sheet = replace(sheet, setup=replace(sheet.setup, secret=_batch_secret(out)))
    reports: list[Report] = []
    open_: list[tuple[int, Submission]] = []
    known = Known(sheet.setup, out / _MISTAKES_FILE)
    with open_lane(sheet.exercises, sheet.setup, hidden=(folder, out)) as lane:

        def grade(number: int, submission: Submission, earlier: Report | None = None) -> Report:
            explain = partial(diagnose, submission=submission, setup=sheet.setup, lane=lane, known=known)
            report = grade_submission(sheet, submission, lane, earlier=earlier, explain=explain)
            known.write()
            write_json(out / _REPORTS / f"{_file_name(report.author)}.json", report)
            if earlier is not None or not repeats(report):
                on_report(report, number, len(authors))
            return report

        for number, path in enumerate(authors, 1):
            submission = _read(path, sheet.exercises)
            reports.append(grade(number, submission))
            if repeats(reports[-1]):
                open_.append((number, submission))
        for number, submission in open_:  # nothing else of ours runs now
            reports[number - 1] = grade(number, submission, earlier=reports[number - 1])
    write_whole(out / "gradebook.csv", gradebook_csv(sheet.exercises, reports))
    return reports


def find_authors(folder: Path) -> list[Path]:
    """The folders and zips of authors, by name; links and hidden ones are not among them.

    Raises:
        SubmissionError: there is none, or an author has two.
    """
    if not folder.is_dir():
        raise SubmissionError(f"{folder} is not a folder with submissions")
    own = [path for path in folder.iterdir() if not path.is_symlink() and path.name[0] != "."]
    found = {path.name: path for path in own if path.is_dir()}
    for path in own:
        if path.suffix.lower() == ZIP and path.is_file():
            if path.stem in found:
                twice = f"{path.stem} is there twice, as {found[path.stem].name} and {path.name}"
                raise SubmissionError(f"{folder}: {twice}; keep one of them")
            found[path.stem] = path
    if not found:
        raise SubmissionError(f"{folder} has no submissions: a folder or a zip for each author is expected")
    return sorted(found.values())


def _read(path: Path, exercises: Sequence[Exercise]) -> Submission:
    """A submission; of a zip that cannot be read, one without files that says so."""
    author = path.name if path.is_dir() else path.stem
    try:
        with opened(path, exercises) as folder:
            return read_submission(folder, exercises, author)
    except SubmissionError as error:
        digest = hashlib.sha256(str(error).encode()).hexdigest()
        return Submission(author, {}, {}, {exercise.id: str(error) for exercise in exercises}, digest)


def _file_name(author: str) -> str:
    """The author's name, or its beginning with a digest where a file could not have it."""
    if len(os.fsencode(author)) <= _LONGEST_NAME:
        return author
    return f"{author[:_SHORTENED]}-{hashlib.sha256(os.fsencode(author)).hexdigest()[:16]}"


def _batch_secret(out: Path) -> bytes:
    """The secret that all inputs come from, kept with the reports and used again when they are graded again."""
    path = out / _SEED_FILE
    if not path.exists():
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(_SECRET_BYTES)}\n")
    try:
        secret = bytes.fromhex(path.read_text(encoding="ascii"))
    except ValueError:
        secret = b""
    if len(secret) != _SECRET_BYTES:
        raise GraderError(f"{path} does not hold the batch's secret; restore it, or grade into a new folder")
    return secret
