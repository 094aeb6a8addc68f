"""What the journal has of a submission already, what is written into it, and what of it counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from grader.batch.book import report_of
from grader.batch.journal import Journal
from grader.batch.order import Order, Summary, is_broken
from grader.batch.overview import kept_file
from grader.batch.pile import Pile
from grader.grading.grade import Sheet, is_open
from grader.grading.graded import from_told, to_told
from grader.grading.keys import Keys
from grader.grading.work import Answer
from grader.model import Exercise, GradedExercise, Report, Submission
from grader.sandbox.levels import Level


class Ledger:
    """The journal of a run, in the words of grading.

    Args:
        sheet: what is graded.
        journal: open.
        order: what of it is graded.
        summary: what is counted goes there.
        root: the folder of all submissions.
    """

    def __init__(self, sheet: Sheet, journal: Journal, order: Order, summary: Summary, root: Path) -> None:
        self._sheet = sheet
        self._journal = journal
        self._order = order
        self._summary = summary
        self._root = root
        self._keys = Keys(sheet.setup, sheet.exercises)

    def number(self) -> int:
        """The number of an outcome that is still to come."""
        return self._journal.number()

    def find(self, submission: Submission, exercise: Exercise) -> tuple[int, GradedExercise] | None:
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

    def keep(self, pile: Pile, attempt: int, number: int, graded: GradedExercise, answer: Answer | None) -> None:
        """Write an outcome down."""
        submission, exercise = pile.submissions[attempt], graded.exercise
        level = answer.level if answer is not None and submission.files.get(exercise.id) else None
        key = self._keys.of(submission, exercise)
        told = to_told(graded) | kept_file(graded, submission, self._root)
        self._journal.add(number, submission.author, exercise.id, key, level, told)
        pile.put(attempt, number, graded)
        pile.waits |= is_open(graded) or is_broken(graded)
        self._summary.graded += 1

    def seat(self, pile: Pile) -> None:
        """Let the best of what was found of each exercise count; of equal ones the first, which is the latest."""
        submission = pile.submissions[0]
        self._journal.submission(submission.author, tuple(submission.authors), submission.digest)
        seats = {seat.exercise: seat for seat in self._journal.seats(submission.author)}
        for id, rows in pile.found.items():
            number, graded = max((rows[attempt] for attempt in sorted(rows)), key=lambda row: row[1].score.earned)
            if self._order.never_lower and (seat := seats.get(id)):
                before = from_told(graded.exercise, self._journal.entry(seat.outcome).told)
                if before.score.earned > graded.score.earned:
                    self._summary.lower.append((submission.author, id))
                    continue
            self._journal.seat(submission.author, id, number)

    def report(self, submission: Submission) -> Report | None:
        """The report of a submission by what counts now; None if nothing of it was graded yet."""
        return report_of(self._sheet, self._journal, submission.author, tuple(submission.authors), submission.digest)

    def look_over(self) -> None:
        """Count what is broken among what counts, and what others got with other checks."""
        judges = {exercise.id: self._keys.judge(exercise) for exercise in self._sheet.exercises}
        known = {exercise.id: exercise for exercise in self._sheet.exercises}
        for seat in sorted(self._journal.seats(), key=lambda seat: seat.author):
            if seat.exercise not in known:
                continue
            entry = self._journal.entry(seat.outcome)
            self._summary.stale += entry.key.judge != judges[seat.exercise]
            if is_broken(from_told(known[seat.exercise], entry.told)):
                self._summary.broken.setdefault(seat.exercise, []).append(seat.author)
