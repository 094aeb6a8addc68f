"""The journal as a class at a glance: what came of each exercise and check, and groups of what nothing explains."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from grader.batch.book import UNMATCHED, page_of, reports
from grader.batch.journal import Journal
from grader.grading.diagnosis import BOTH
from grader.grading.plan import RunPlan
from grader.grading.store import Saved
from grader.grading.unexplained import Group, Unexplained, draft_text, grouped, is_unexplained, lost_rows, plain_code
from grader.model import Check, Course, Exercise, GradedExercise, Report, Score, Verdict
from grader.model.messages import Setup, Start
from grader.report.gradebook import cell_text
from grader.report.overview import AuthorRow, CheckTally, Example, ExerciseTally, GroupTold, Overview

_MOST_LOOKED_AT = 100
"""So many of a group are looked at for the shortest of them."""


@dataclass
class _Tally:
    """What is counted of one exercise."""

    exercise: Exercise
    scores: list[Score] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)
    checks: dict[str, Check] = field(default_factory=dict)
    verdicts: dict[str, Counter[Verdict]] = field(default_factory=dict)
    mistakes: dict[str, list[str]] = field(default_factory=dict)
    unexplained: list[Unexplained] = field(default_factory=list)

    def add(self, author: str, number: int, graded: GradedExercise) -> None:
        """Count one outcome."""
        if not graded.handed_in:
            self.states["missing"] += 1
            return
        self.scores.append(graded.score)
        self.states["blank"] += graded.state == "not_started"
        self.states["full"] += graded.score.earned == graded.score.possible
        for row in graded.checks:
            self.checks.setdefault(row.check.id, row.check)
            self.verdicts.setdefault(row.check.id, Counter())[row.outcome.verdict] += 1
        if graded.diagnosis:
            for mistake in graded.diagnosis.split(BOTH):
                self.mistakes.setdefault(mistake, []).append(author)
        elif is_unexplained(graded):
            self.unexplained.append(Unexplained.of(author, number, graded))


class Class:
    """What is in a journal, read once.

    Args:
        course: as it is now: points and starters are its.
        journal: open; it is asked again for the files of what is looked at.
        out: the folder that it lies in.
        on_report: told each report, one after another.
    """

    def __init__(
        self, course: Course, journal: Journal, out: Path, on_report: Callable[[Report], object] = lambda report: None
    ) -> None:
        self._journal = journal
        self._out = out
        self._course = course
        self._tallies = {exercise.id: _Tally(exercise) for exercise in course.exercises}
        self._rows: list[AuthorRow] = []
        self._open: list[tuple[str, Exercise, Verdict]] = []
        self._at = ""
        plan = RunPlan(course, course.exercises, Setup(Start.FORK))  # nothing is run
        for report in reports(plan, journal):
            self._add(report)
            on_report(report)
        found = [(tally.exercise, item) for tally in self._tallies.values() for item in tally.unexplained]
        self.groups = grouped(found)

    def _add(self, report: Report) -> None:
        author = report.author
        numbers = {row.exercise: row.result for row in self._journal.current(author)}
        for graded in report.exercises:
            id = graded.exercise.id
            self._tallies[id].add(author, numbers[id], graded)
            open_ = dict.fromkeys(row.outcome.verdict for row in graded.checks if not row.outcome.verdict.decided)
            self._open += [(author, graded.exercise, verdict) for verdict in open_]
        cells = {graded.exercise.id: cell_text(graded) for graded in report.exercises}
        page = quote(os.fsencode(page_of(author)))
        self._rows.append(AuthorRow(author, report.authors or (author,), cells, report.score, page))
        self._at = max(self._at, report.graded_at)

    def overview(self) -> Overview:
        """All of it."""
        groups: dict[str, list[GroupTold]] = {}
        for group in self.groups:
            groups.setdefault(group.exercise.id, []).append(self.told(group))
        tallies = tuple(
            _told(tally, groups.get(tally.exercise.id, []))
            for tally in self._tallies.values()
            if tally.scores or tally.states
        )
        unmatched = (self._out / UNMATCHED).is_file()
        return Overview(self._course.title, self._at, tallies, tuple(self._rows), tuple(self._open), unmatched)

    def told(self, group: Group) -> GroupTold:
        """A group with its shortest file as an example."""
        saved = self._members(group)[0]
        graded = saved.outcomes.graded(group.exercise)
        lines = _own_lines(group.exercise, saved.text) if saved.text is not None else ()
        example = Example(saved.author, saved.path or "", tuple(lost_rows(graded)), tuple(lines))
        return GroupTold(
            group.name, group.exercise, tuple(item.author for item in group.members), example, group.why_not
        )

    def draft(self, group: Group) -> str:
        """A new known wrong answer of the shortest file of a group of which one can be made.

        Raises:
            ValueError: of none of them.
        """
        if group.why_not:
            raise ValueError(group.why_not)
        people = {author: (author, *authors) for author, authors, _ in self._journal.submissions()}
        why = "none of its files was kept; run the batch once more with --rerun all"
        for saved in self._members(group):
            if saved.text is not None:
                graded = saved.outcomes.graded(group.exercise)
                try:
                    return draft_text(graded, saved.text, people[saved.author])
                except ValueError as error:
                    why = str(error)
        raise ValueError(why)

    def _members(self, group: Group) -> list[Saved]:
        """The first of a group, those with the shortest code first."""
        found = [self._journal.result(item.number) for item in group.members[:_MOST_LOOKED_AT]]
        return sorted(found, key=lambda saved: (_length(saved.text), saved.author))


def _length(text: bytes | None) -> int:
    """Of the code, comments apart; what cannot be read comes last."""
    if text is None:
        return 1 << 40
    try:
        return len(plain_code(text))
    except ValueError:
        return (1 << 30) + len(text)


def _told(tally: _Tally, groups: list[GroupTold]) -> ExerciseTally:
    mistakes = sorted(tally.mistakes.items(), key=lambda item: (-len(item[1]), item[0]))
    return ExerciseTally(
        tally.exercise,
        tuple(tally.scores),
        tally.states["full"],
        tally.states["blank"],
        tally.states["missing"],
        tuple(CheckTally(check, tally.verdicts[id]) for id, check in tally.checks.items()),
        tuple((sentence, tuple(authors)) for sentence, authors in mistakes),
        tuple(groups),
    )


def _own_lines(exercise: Exercise, text: bytes) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not in the starter, with their numbers; none of what is no text."""
    starter = exercise.starter.read_text(encoding="utf-8", errors="replace") if exercise.starter.is_file() else ""
    given = {line.strip() for line in starter.splitlines()}
    try:
        own = text.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        return
    for number, line in enumerate(own, 1):
        if line.strip() and line.strip() not in given:
            yield number, line.rstrip()
