"""What a batch writes into its folder besides the journal: reports, the gradebook, and what could not be matched."""

from __future__ import annotations

import csv
import errno
import hashlib
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from grader.batch.book import reports
from grader.batch.journal import Journal
from grader.grading.plan import RunPlan
from grader.intake.handed import Unmatched
from grader.model import Report
from grader.model.errors import CourseError, GraderError
from grader.model.files import write_whole
from grader.report.export.gradebook_csv import GradebookRow, gradebook_csv
from grader.report.safe import for_csv
from grader.report.schema import report_json

_REPORTS = "reports"
_GRADEBOOK = "gradebook.csv"
UNMATCHED = "unmatched.csv"
_FEEDBACK = "feedback"
_OVERVIEW = "report.html"
_LONGEST_NAME = 200
_SHORTENED = 40
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)


class Out:
    """The folder that a batch writes into, made with mode 0700.

    Args:
        path: of the folder.

    Raises:
        CourseError: it cannot be made, or nothing can be written into it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            (path / _REPORTS).mkdir(exist_ok=True)
        except OSError as error:
            raise CourseError(f"--out: {path} cannot be made ({error.strerror}); name another folder") from None
        if not os.access(path, os.W_OK | os.X_OK):
            raise CourseError(f"--out: nothing can be written into {path}; name another folder")

    def write_report(self, report: Report, *, staff: bool) -> None:
        """Write a report, for `staff` with detail of hidden checks, if it is not there already.

        The gradebook, which would tell otherwise, goes first.
        """
        path = self.path / _REPORTS / f"{_file_name(report.author)}.json"
        text = report_json(report, staff=staff)
        if path.is_file() and path.read_bytes() == text:
            return
        (self.path / _GRADEBOOK).unlink(missing_ok=True)
        write_whole(path, text)

    def write_gradebook(self, plan: RunPlan, journal: Journal) -> None:
        """Write what counts of everybody."""
        rows = map(GradebookRow.of, reports(plan, journal))
        write_whole(self.path / _GRADEBOOK, gradebook_csv([exercise.id for exercise in plan.exercises], rows))

    def write_page(self, text: str, author: str | None = None) -> Path:
        """Write the page of an author, or that of the class; give its place.

        Raises:
            CourseError: it cannot be written.
        """
        path = self.path / (_OVERVIEW if author is None else page_of(author))
        try:
            path.parent.mkdir(exist_ok=True)
            write_whole(path, text)
        except OSError as error:
            raise CourseError(f"{path} cannot be written ({error.strerror}); remove what is in its place") from None
        return path

    def write_unmatched(self, rows: Sequence[Unmatched]) -> None:
        """Write what no exercise or no author was found for; nothing is there if that is nothing."""
        path = self.path / UNMATCHED
        if rows:
            table = [("file", "author", "why"), *((row.file, row.author, row.why) for row in rows)]
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([for_csv(cell) for cell in row] for row in table)
            write_whole(path, text.getvalue())
        else:
            path.unlink(missing_ok=True)


def page_of(author: str) -> str:
    """Where the page of an author lies, from the folder of results."""
    return f"{_FEEDBACK}/{_file_name(author)}.html"


def _file_name(author: str) -> str:
    """The author's name, or its beginning with a digest where a file could not have it."""
    plain = "".join("_" if char in '/\\\0:*?"<>|' else char for char in author)
    if plain == author and len(os.fsencode(author)) <= _LONGEST_NAME and author[:1] not in (".", ""):
        return author
    return f"{plain.lstrip('.')[:_SHORTENED]}-{hashlib.sha256(os.fsencode(author)).hexdigest()[:16]}"


@contextmanager
def no_room_reported(out: Path) -> Iterator[None]:
    """Report a full disk, and that nothing is lost.

    Raises:
        GraderError: it is.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise GraderError(
            f"{error.filename or out}: {error.strerror}; make room, then run the same command again: what was graded "
            "is saved"
        ) from None
