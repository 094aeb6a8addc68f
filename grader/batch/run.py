"""Many submissions → reports and a gradebook. What was graded before and has not changed is not graded again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from grader.batch.book import report_of, reports
from grader.batch.files import MISTAKES_FILE, Out, told_room
from grader.batch.journal import Journal, open_journal
from grader.batch.order import Order, Summary, is_broken
from grader.confine.levels import Level
from grader.diagnosis.diagnose import explainer
from grader.diagnosis.known import Known
from grader.graded import from_told, to_told
from grader.grading import Sheet, grade_submission, is_open
from grader.intake.collect import collect
from grader.intake.handed import Handed, Intake, Unmatched
from grader.keys import Keys
from grader.lanes.lane import Lane
from grader.lanes.open import open_lane
from grader.model import Exercise, GradedExercise, Report, Submission
from grader.model.errors import GraderError

_GIVEN_UP = 3
"""So many submissions are tried again of an exercise that stays broken: then it is its checks, and no accident."""

OnReport = Callable[[Report, int, int], None]
"""Told each report that is new, with its place and the number of all."""
OnBook = Callable[[Iterator[Report]], None]
"""Told reports one after another, of which no more than one need be kept at a time."""


def grade_batch(
    sheet: Sheet, intake: Intake, out: Path, order: Order, on_report: OnReport, on_book: OnBook = lambda reports: None
) -> Summary:
    """Grade what was handed in, and write the reports and the gradebook.

    Killed at any moment and run again, it goes on where it was; interrupted, it leaves the gradebook so far.

    Args:
        sheet: what is to be graded; its secret is the batch's own, which is kept in `out`.
        intake: what was handed in.
        out: where reports go; made with mode 0700.
        order: what of it is graded.
        on_report: told each report with its place and the number of all; what is repeated is told then.
        on_book: told at the end what counts of everybody, also of those who were graded earlier.

    Raises:
        CourseError: another batch works in `out`, or it cannot be written.
        ConfinementError: student code cannot be confined as well as is asked for.
    """
    place = Out(out)
    with open_journal(out) as journal, told_room(out):
        sheet = replace(sheet, setup=replace(sheet.setup, secret=place.secret()))
        journal.begin(f"{sheet.handin or ''} {order}")
        with _Batch(sheet, intake, place, order, journal).opened() as batch:
            try:
                batch.run(on_report)
            except (KeyboardInterrupt, GraderError):
                with suppress(OSError):
                    place.write_gradebook(sheet, journal)
                raise
            place.write_gradebook(sheet, journal)
            batch.look_over()
        on_book(reports(sheet, journal))
    return batch.summary


class _Batch:
    """One run over a class. The lane is opened when there is something to run."""

    def __init__(self, sheet: Sheet, intake: Intake, place: Out, order: Order, journal: Journal) -> None:
        self._sheet = sheet
        self._intake = intake
        self._place = place
        self._order = order
        self._journal = journal
        self._keys = Keys(sheet.setup, sheet.exercises)
        self._known = Known(sheet.setup, place.path / MISTAKES_FILE)
        self._stack = ExitStack()
        self._lane: Lane | None = None
        self._unmatched = list(intake.unmatched)
        self.summary = Summary()

    @contextmanager
    def opened(self) -> Iterator[_Batch]:
        """The batch, until its lane is closed."""
        with self._stack:
            yield self

    def run(self, on_report: OnReport) -> None:
        """Grade everybody, then again what was inconclusive or broken, when nothing else of ours runs."""
        wanted = self._order.authors
        later: list[tuple[int, Handed]] = []
        total, number = len(wanted) or len(self._intake.handed), 0
        for handed in self._intake.handed:
            # Of others too, so that what belongs to nobody is told of the whole class.
            submissions, unmatched = self._read(handed)
            self._unmatched += unmatched
            if wanted and handed.key not in wanted:
                continue
            number += 1
            if not submissions:
                continue
            before = self.summary.graded
            waits = self._grade(submissions)
            if waits:
                later.append((number, handed))
            report = self._write(submissions[0])
            if not waits and self.summary.graded > before:
                on_report(report, number, total)
        self._place.write_unmatched(self._unmatched)
        self.summary.unmatched = len(self._unmatched)
        stays: dict[str, int] = {}
        for number, handed in later:
            submissions, _ = self._read(handed)
            self._grade_again(submissions, stays)
            on_report(self._write(submissions[0]), number, total)

    def _read(self, handed: Handed) -> tuple[list[Submission], list[Unmatched]]:
        """Read what somebody handed in; where a fault of ours keeps us from it, nothing, which is told."""
        try:
            return collect(handed, self._sheet.course.exercises, self._sheet.exercises, every=self._order.best)
        except Exception as error:  # whatever it is: it must not keep others from their marks
            self.summary.unread[handed.key] = f"{type(error).__name__}: {error}"
            told = f"it could not be read, by a fault of ours: {self.summary.unread[handed.key]}; please report it"
            return [], [Unmatched("", handed.key, told)]

    def _exercises(self) -> list[Exercise]:
        only = self._order.only
        return [exercise for exercise in self._sheet.exercises if not only or exercise.id in only]

    def _grade(self, submissions: Sequence[Submission]) -> bool:
        """Grade what is not in the journal yet; tell whether something waits for the end of the run."""
        found: dict[str, list[tuple[int, GradedExercise]]] = {}
        waits = False
        for place, submission in enumerate(submissions):
            new = []
            for exercise in self._exercises():
                if place and exercise.id not in submission.files:
                    continue
                known = self._find(submission, exercise)
                if known is not None and not self._order.again(known[1]):
                    found.setdefault(exercise.id, []).append(known)
                    self.summary.kept += 1
                    waits |= is_open(known[1])
                else:
                    new.append(exercise)
            for number, graded in self._graded(submission, new):
                found.setdefault(graded.exercise.id, []).append((number, graded))
                waits |= is_open(graded) or is_broken(graded)
        self._seat(submissions[0], found)
        return waits

    def _grade_again(self, submissions: Sequence[Submission], stays: dict[str, int]) -> None:
        """Repeat what was inconclusive, and grade again what was broken, unless that is the checks' own fault."""
        found: dict[str, list[tuple[int, GradedExercise]]] = {}
        for place, submission in enumerate(submissions):
            known = {
                exercise.id: row
                for exercise in self._exercises()
                if (not place or exercise.id in submission.files) and (row := self._find(submission, exercise))
            }
            for id, (number, graded) in known.items():
                rows = [(number, graded)]
                if is_open(graded):
                    rows = self._graded(submission, [graded.exercise], graded)
                elif is_broken(graded) and stays.get(id, 0) < _GIVEN_UP:
                    rows = self._graded(submission, [graded.exercise])
                    stays[id] = stays.get(id, 0) + 1 if is_broken(rows[0][1]) else 0
                found.setdefault(id, []).extend(rows)
        self._seat(submissions[0], found)

    def _find(self, submission: Submission, exercise: Exercise) -> tuple[int, GradedExercise] | None:
        """What the journal has of the same files, checks, inputs and machine; the latest."""
        key = self._keys.of(submission, exercise)
        for entry in self._journal.entries(submission.author, exercise.id):
            graded = from_told(exercise, entry.told)
            # A sentence for a known mistake hangs on the mistakes, and nothing else does.
            asked = key if graded.state == "started" else replace(key, mistakes=entry.key.mistakes)
            confined = not entry.confinement or Level.of(entry.confinement) >= self._sheet.setup.least
            if asked == entry.key and confined:
                return entry.id, graded
        return None

    def _graded(
        self, submission: Submission, exercises: Sequence[Exercise], before: GradedExercise | None = None
    ) -> list[tuple[int, GradedExercise]]:
        """Grade exercises, and write each down as it happens."""
        rows: dict[str, tuple[int, GradedExercise]] = {}
        if not exercises:
            return []

        def keep(graded: GradedExercise) -> None:
            level = lane.reached.level.word if lane is not None and submission.files.get(graded.exercise.id) else None
            key = self._keys.of(submission, graded.exercise)
            number = self._journal.add(submission.author, graded.exercise.id, key, level, to_told(graded))
            rows[graded.exercise.id] = number, graded
            self.summary.graded += 1

        sheet = replace(self._sheet, exercises=exercises)
        lane = self._open() if sheet.to_run(submission) else self._lane
        explain = explainer(submission, sheet.setup, lane, self._known)
        earlier = None if before is None else [before]
        report = grade_submission(sheet, submission, lane, earlier=earlier, explain=explain, on_exercise=keep)
        for graded in report.exercises:
            if graded.exercise.id not in rows:  # no check of it was run
                keep(graded)
        self._known.write()
        return list(rows.values())

    def _open(self) -> Lane:
        if self._lane is None:
            hidden = (self._intake.root, self._intake.source, self._place.path)
            self._lane = self._stack.enter_context(open_lane(self._exercises(), self._sheet.setup, hidden=hidden))
        return self._lane

    def _seat(self, submission: Submission, found: dict[str, list[tuple[int, GradedExercise]]]) -> None:
        """Let the best of what was found of each exercise count; of equal ones the first, which is the latest."""
        self._journal.submission(submission.author, tuple(submission.authors), submission.digest)
        seats = {seat.exercise: seat for seat in self._journal.seats(submission.author)}
        for id, rows in found.items():
            number, graded = max(rows, key=lambda row: row[1].score.earned)
            if self._order.never_lower and (seat := seats.get(id)):
                before = from_told(graded.exercise, self._journal.entry(seat.outcome).told)
                if before.score.earned > graded.score.earned:
                    self.summary.lower.append((submission.author, id))
                    continue
            self._journal.seat(submission.author, id, number)

    def _write(self, submission: Submission) -> Report:
        report = report_of(self._sheet, self._journal, submission.author, tuple(submission.authors), submission.digest)
        assert report is not None, "it was graded"
        self._place.write_report(report)
        return report

    def look_over(self) -> None:
        """Count what is broken among what counts, and what others got with other checks."""
        judges = {exercise.id: self._keys.judge(exercise) for exercise in self._sheet.exercises}
        known = {exercise.id: exercise for exercise in self._sheet.exercises}
        for seat in sorted(self._journal.seats(), key=lambda seat: seat.author):
            if seat.exercise not in known:
                continue
            entry = self._journal.entry(seat.outcome)
            self.summary.stale += entry.key.judge != judges[seat.exercise]
            if is_broken(from_told(known[seat.exercise], entry.told)):
                self.summary.broken.setdefault(seat.exercise, []).append(seat.author)
