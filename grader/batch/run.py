"""Many submissions → reports and a gradebook. What was graded before and has not changed is not graded again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from grader.batch.book import reports
from grader.batch.files import Out, told_room
from grader.batch.journal import Journal
from grader.batch.ledger import Ledger
from grader.batch.order import Order, Summary, Where, is_broken
from grader.batch.pile import Piece, Pile
from grader.batch.shards import mistakes_of, open_journal_of
from grader.cluster.engine import Engine, open_engine
from grader.grading.grade import Sheet, grade_submission, is_open
from grader.grading.graded import from_told, to_told
from grader.grading.work import Answer, Work
from grader.intake.collect import collect
from grader.intake.handed import Handed, Intake, Unmatched
from grader.model import Exercise, GradedExercise, Report, Submission
from grader.model.errors import GraderError

_GIVEN_UP = 3
"""So many submissions are tried again of an exercise that stays broken: then it is its checks, and no accident."""

_AHEAD = 2
"""So much work waits for each slot, so that none is idle while the next submission is read."""

_LOOK_S = 1.0

OnReport = Callable[[Report, int, int], None]
"""Told each report that is new, with its place and the number of all."""
OnBook = Callable[[Iterator[Report]], None]
"""Told reports one after another, of which no more than one need be kept at a time."""
OnWait = Callable[[int, int], None]
"""Told once a second how many submissions are read by now, and the number of all."""


def _nobody(*told: object) -> None:
    del told


def grade_batch(
    sheet: Sheet,
    intake: Intake,
    out: Path,
    order: Order,
    on_report: OnReport,
    *,
    where: Where = Where(),  # noqa: B008  frozen
    on_book: OnBook = _nobody,
    on_wait: OnWait = _nobody,
    on_note: Callable[[str], None] = _nobody,
) -> Summary:
    """Grade what was handed in, and write the reports and the gradebook.

    Killed at any moment and run again, it goes on where it was; interrupted, it leaves the gradebook so far. What comes
    of it hangs on nothing that `where` says.

    Args:
        sheet: what is to be graded; its secret is the batch's own, which is kept in `out`.
        intake: what was handed in.
        out: where reports go; made with mode 0700.
        order: what of it is graded.
        on_report: told each report with its place and the number of all; what is repeated is told then.
        where: the work is done.
        on_book: told at the end what counts of everybody, also of those who were graded earlier.
        on_wait: told while it goes on.
        on_note: told what somebody should know of the machines at which it is done.

    Raises:
        CourseError: another batch works in `out`, or it cannot be written; or there is no such cluster.
        ConfinementError: student code cannot be confined as well as is asked for.
    """
    place = Out(out)
    shard = order.shard
    if shard is not None:
        own = tuple(handed for number, handed in enumerate(intake.handed) if shard.has(number))
        intake = replace(intake, handed=own, unmatched=())
    told, keys = f"{sheet.handin or ''} {order}", [handed.key for handed in intake.handed]
    with told_room(out), open_journal_of(place, order, told, keys) as (journal, secret):
        sheet = replace(sheet, setup=replace(sheet.setup, secret=secret))
        asked = [exercise for exercise in sheet.exercises if not order.only or exercise.id in order.only]
        hidden = (intake.root, intake.source, out)
        mistakes = mistakes_of(out, shard)
        work_of = replace(sheet, exercises=asked)
        with open_engine(where.engine, work_of, where.slots, hidden=hidden, mistakes=mistakes, note=on_note) as opened:
            batch = _Batch(sheet, intake, place, order, journal, opened, on_wait)
            try:
                batch.run(on_report)
            except (KeyboardInterrupt, GraderError):
                if shard is None:
                    with suppress(OSError):
                        place.write_gradebook(sheet, journal)
                raise
            batch.ledger.look_over()
            if shard is None:
                place.write_gradebook(sheet, journal)
                place.write_unmatched(batch.unmatched)
        if shard is None:
            on_book(reports(sheet, journal))
    return batch.summary


class _Batch:
    """One run over a class."""

    def __init__(
        self,
        sheet: Sheet,
        intake: Intake,
        place: Out,
        order: Order,
        journal: Journal,
        engine: Engine,
        on_wait: OnWait,
    ) -> None:
        self._sheet = sheet
        self._intake = intake
        self._place = place
        self._order = order
        self._engine = engine
        self._on_wait = on_wait
        self.unmatched = list(intake.unmatched)
        self._total = sum(not order.authors or handed.key in order.authors for handed in intake.handed)
        self._done = 0
        self._away: dict[Future[bytes], Piece] = {}
        self._late: dict[tuple[str, int, str], int] = {}
        self._later: list[Pile] = []
        self.summary = Summary()
        self.ledger = Ledger(sheet, journal, order, self.summary, intake.root)

    def run(self, on_report: OnReport) -> None:
        """Grade everybody, then again what was inconclusive or broken, when nothing else of ours runs."""
        for pile in self._piles():
            self._give_out(pile, on_report)
        while self._away:
            self._take(on_report)
        self.summary.unmatched = len(self.unmatched)
        stays: dict[str, int] = {}
        for pile in sorted(self._later, key=lambda pile: pile.number):
            pile.submissions, _ = self._read(pile.handed)
            self._grade_again(pile, stays)
            if report := self._written(pile):
                on_report(report, pile.number, self._total)

    def _piles(self) -> Iterator[Pile]:
        """What is to be graded, read one after another."""
        number, wanted = 0, self._order.authors
        for handed in self._intake.handed:
            # Of others too, so that what belongs to nobody is told of the whole class.
            submissions, unmatched = self._read(handed)
            self.unmatched += unmatched
            if wanted and handed.key not in wanted:
                continue
            number += 1
            if submissions:
                yield Pile(number, handed, submissions)

    def _read(self, handed: Handed) -> tuple[list[Submission], list[Unmatched]]:
        """Read what somebody handed in; where a fault of ours keeps us from it, nothing, which is told."""
        try:
            return collect(handed, self._sheet.course.exercises, self._sheet.exercises, every=self._order.best)
        except Exception as error:  # whatever it is: it must not keep others from their marks
            self.summary.unread[handed.key] = f"{type(error).__name__}: {error}"
            told = f"it could not be read, by a fault of ours: {self.summary.unread[handed.key]}; please report it"
            return [], [Unmatched("", handed.key, told)]

    def _wanted(self, pile: Pile) -> Iterator[tuple[int, Submission, Exercise]]:
        """The exercises of each attempt that are asked for."""
        only = self._order.only
        for attempt, submission in enumerate(pile.submissions):
            for exercise in self._sheet.exercises:
                if (not only or exercise.id in only) and (not attempt or exercise.id in submission.files):
                    yield attempt, submission, exercise

    def _give_out(self, pile: Pile, on_report: OnReport) -> None:
        """Have graded what is not in the journal yet."""
        for attempt, submission, exercise in self._wanted(pile):
            known = self.ledger.find(submission, exercise)
            if known is not None and not self._order.again(known[1]):
                pile.put(attempt, *known)
                self.summary.kept += 1
                pile.waits |= is_open(known[1])
                continue
            pile.is_new = True
            number = self.ledger.number()
            if not replace(self._sheet, exercises=[exercise]).to_run(submission):
                sheet = replace(self._sheet, exercises=[exercise])
                (graded,) = grade_submission(sheet, submission, None).exercises
                self.ledger.keep(pile, attempt, number, graded, None)
                continue
            while len(self._away) >= _AHEAD * self._engine.slots:
                self._take(on_report)
            pile.left += 1
            future = self._engine.submit(Work.of(exercise.id, submission).to_bytes())
            self._away[future] = Piece(pile, attempt, exercise, number)
        self._one_less(pile, on_report)

    def _take(self, on_report: OnReport) -> None:
        """Wait for work that is away, and write down what comes of it."""
        done, _ = wait(self._away, _LOOK_S, FIRST_COMPLETED)
        self._on_wait(self._done, self._total)
        for future in sorted(done, key=lambda future: self._away[future].number):
            piece = self._away.pop(future)
            answer = Answer.from_json(future.result())
            graded = from_told(piece.exercise, answer.told)
            if answer.late and self._engine.slots > 1:
                # Nobody loses a point because of what else ran; alone it has the time that it is given.
                self._late[piece.pile.handed.key, piece.attempt, piece.exercise.id] = piece.number
                piece.pile.waits = True
            else:
                self.ledger.keep(piece.pile, piece.attempt, piece.number, graded, answer)
            self._one_less(piece.pile, on_report)

    def _one_less(self, pile: Pile, on_report: OnReport) -> None:
        """One part of a pile is done; with the last one its report is written."""
        pile.left -= 1
        if pile.left:
            return
        self._done += 1
        report = self._written(pile)
        if pile.waits:
            self._later.append(replace(pile, submissions=[], found={}))
        elif pile.is_new and report is not None:
            on_report(report, pile.number, self._total)

    def _grade_again(self, pile: Pile, stays: dict[str, int]) -> None:
        """Repeat what was inconclusive or late, and grade again what was broken, unless that is the checks' own."""
        for attempt, submission, exercise in self._wanted(pile):
            id = exercise.id
            late = self._late.get((pile.handed.key, attempt, id))
            known = self.ledger.find(submission, exercise) if late is None else None
            if known is not None:
                pile.put(attempt, *known)
            if late is not None or (known is not None and is_open(known[1])):
                self._grade_alone(pile, attempt, exercise, late, known)
            elif known is not None and is_broken(known[1]) and stays.get(id, 0) < _GIVEN_UP:
                graded = self._grade_alone(pile, attempt, exercise)
                stays[id] = stays.get(id, 0) + 1 if is_broken(graded) else 0

    def _written(self, pile: Pile) -> Report | None:
        """Let what was found count, and write the report, if anything was graded yet."""
        self.ledger.seat(pile)
        report = self.ledger.report(pile.submissions[0])
        if report is not None:
            self._place.write_report(report, staff=self._order.staff)
        return report

    def _grade_alone(
        self,
        pile: Pile,
        attempt: int,
        exercise: Exercise,
        number: int | None = None,
        before: tuple[int, GradedExercise] | None = None,
    ) -> GradedExercise:
        """Grade while nothing else of ours runs; what came before is repeated where it was inconclusive alone."""
        work = Work.of(exercise.id, pile.submissions[attempt], None if before is None else to_told(before[1]))
        future = self._engine.submit(work.to_bytes())
        while not wait([future], _LOOK_S).done:
            self._on_wait(self._done, self._total)
        answer = Answer.from_json(future.result())
        graded = from_told(exercise, answer.told)
        if number is not None and before is None and is_open(graded):
            return self._grade_alone(pile, attempt, exercise, number, (0, graded))
        self.ledger.keep(pile, attempt, self.ledger.number() if number is None else number, graded, answer)
        return graded
