"""The folder of a batch's results: the journal as reports and a gradebook, what could not be matched, and regrades."""

from __future__ import annotations

import csv
import errno
import hashlib
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.batch.journal import Journal
from grader.grading.plan import RunPlan
from grader.grading.submission import report_for
from grader.intake.handed import Unmatched
from grader.model import Course, GradedExercise, Report
from grader.model.errors import CourseError, GraderError
from grader.model.files import write_whole
from grader.report.gradebook import GradebookRow, gradebook_csv
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


def report_of(plan: RunPlan, journal: Journal, author: str, authors: tuple[str, ...], digest: str) -> Report | None:
    """The report of a submission, with those exercises of the plan that were ever graded; None if none was."""
    results = {row.exercise: journal.result(row.result) for row in journal.current(author)}
    rows = [(exercise, results[exercise.id]) for exercise in plan.exercises if exercise.id in results]
    if not rows:
        return None
    at = max(saved.at for _, saved in rows)
    graded = [saved.outcomes.graded(exercise) for exercise, saved in rows]
    return report_for(plan, author, authors, digest, at, graded, (saved.confinement for _, saved in rows))


def reports(plan: RunPlan, journal: Journal) -> Iterator[Report]:
    """The reports of all submissions that were ever graded, by name, one after another."""
    for author, authors, digest in sorted(journal.submissions()):
        if report := report_of(plan, journal, author, authors, digest):
            yield report


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

        The gradebook is removed first, as it would contradict the new report.
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
        """Write what belongs to no exercise or no author; without any such row there is no file."""
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


@dataclass(frozen=True)
class CheckChange:
    """A check with another ending: what it was and what it is, each as a verdict and hundredths of a point.

    None means that there was no such check, or that it is gone.
    """

    id: str
    before: tuple[str, int] | None
    after: tuple[str, int] | None


@dataclass(frozen=True)
class Change:
    """One exercise of an author that was graded again.

    Attributes:
        author: whose.
        before: as it was graded before.
        after: as it was graded now.
        why: it was graded again.
        checks: those with another ending.
    """

    author: str
    before: GradedExercise
    after: GradedExercise
    why: str
    checks: Sequence[CheckChange]


@dataclass(frozen=True)
class Diff:
    """What the last run changed that graded anything again.

    Attributes:
        at: when that run began; "" if there was none.
        changes: everything that was graded again, by author and in the order of the course.
    """

    at: str
    changes: Sequence[Change]


def last_regrade(course: Course, journal: Journal) -> Diff:
    """Compare what counts with what it replaced, in the last run in which anything was replaced.

    Lower scores that did not count because of `never_lower` are compared with those that count.
    """
    rows = [(row, row.replaces, row.result) for row in journal.current() if row.replaces is not None]
    rows += [(row, row.result, number) for number, row in journal.not_counted()]
    if not rows:
        return Diff("", ())
    run = max(row.run for row, _, _ in rows)
    places = {exercise.id: place for place, exercise in enumerate(course.exercises)}
    known = [each for each in rows if each[0].run == run and each[0].exercise in places]
    changes = []
    for row, earlier, later in sorted(known, key=lambda each: (each[0].author, places[each[0].exercise])):
        exercise = course.exercises[places[row.exercise]]
        old, new = journal.result(earlier), journal.result(later)
        before, after = old.outcomes.graded(exercise), new.outcomes.graded(exercise)
        why = old.key.why_not(new.key)
        if later != row.result:
            why = f"{why}; not counted, because of --never-lower"
        changes.append(Change(row.author, before, after, why, tuple(_checks(before, after))))
    return Diff(journal.started(run), changes)


def _checks(before: GradedExercise, after: GradedExercise) -> Iterator[CheckChange]:
    old = {row.check.id: (row.outcome.verdict.value, row.score.earned) for row in before.checks}
    new = {row.check.id: (row.outcome.verdict.value, row.score.earned) for row in after.checks}
    for id in dict.fromkeys((*new, *old)):
        if old.get(id) != new.get(id):
            yield CheckChange(id, old.get(id), new.get(id))
