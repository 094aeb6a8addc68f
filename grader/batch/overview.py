"""The journal as a class at a glance: what came of each exercise and check, and groups of what nothing explains."""

from __future__ import annotations

import math
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from grader.batch.book import UNMATCHED, page_of, reports
from grader.batch.journal import Journal
from grader.batch.policy import Rules
from grader.grading.diagnosis import mistakes_in
from grader.grading.plan import RunPlan
from grader.grading.store import Saved
from grader.grading.unexplained import Group, add_to, draft_text, in_order, is_unexplained, lost_rows, plain_code
from grader.model import Course, Exercise, Report, Verdict
from grader.model.messages import Setup, Start
from grader.report.gradebook import cell_text
from grader.report.overview import AuthorRow, ExerciseTally, GroupRow, Overview

_MOST_LOOKED_AT = 100
"""So many of a group are looked at for the shortest of them."""


_TASK = re.compile(rb"\s*[rR]?(\"\"\"|''').*?\1[^\n]*\n", re.DOTALL)
"""The docstring of a module, which may be an earlier version of the task."""


class Class:
    """What is in a journal, read once.

    Args:
        course: as it is now: points and starters are its.
        journal: open; the files of examples are read from it.
        out: the folder that it lies in.
        on_report: receives each report, one after another.
        names: whether people are named of whom the platform gave a number, too.
    """

    def __init__(
        self,
        course: Course,
        journal: Journal,
        out: Path,
        on_report: Callable[[Report], object] = lambda report: None,
        *,
        names: bool = False,
    ) -> None:
        self._journal, self._out, self._course = journal, out, course
        self._people = journal.names()
        self._names = self._people if names else {}
        self._tallies = {exercise.id: ExerciseTally(exercise) for exercise in course.exercises}
        self._unexplained: dict[str, Group] = {}
        self._notes = defaultdict[tuple[str, str], list[str]](list)
        self._rows: list[AuthorRow] = []
        self._open: list[tuple[str, Exercise, Verdict]] = []
        self._at = ""
        plan = RunPlan(course, course.exercises, Setup(Start.FORK))  # nothing is run
        for report in reports(plan, journal, Rules.read(out, course, journal.handin(), self._people)):
            self._add(report)
            on_report(report)
        self.groups = in_order(self._unexplained)

    def _add(self, report: Report) -> None:
        author = report.author
        numbers = {row.exercise: row.result for row in self._journal.current(author)}
        for graded in report.exercises:
            id = graded.exercise.id
            mistakes = mistakes_in(graded.diagnosis)
            self._tallies[id].add(author, graded, mistakes)
            if is_unexplained(graded):
                add_to(self._unexplained, author, numbers[id], graded)
            for note in graded.notes:
                self._notes[author, note].append(graded.exercise.number)
            open_ = dict.fromkeys(row.verdict for row in graded.checks if not row.verdict.decided)
            self._open += [(author, graded.exercise, verdict) for verdict in open_]
        cells = {graded.exercise.id: cell_text(graded) for graded in report.exercises}
        page = quote(os.fsencode(page_of(author)))
        self._rows.append(AuthorRow(author, report.authors or (author,), cells, report.score, page))
        self._at = max(self._at, report.graded_at)

    def overview(self) -> Overview:
        """All of it."""
        tallies = tuple(tally for tally in self._tallies.values() if tally.scores or tally.missing)
        for tally in tallies:
            tally.groups = [self.shown(group) for group in self.groups if group.exercise.id == tally.exercise.id]
        unmatched = (self._out / UNMATCHED).is_file()
        notes = tuple((author, ", ".join(numbers), note) for (author, note), numbers in self._notes.items())
        rows, undecided = tuple(self._rows), tuple(self._open)
        return Overview(self._course.title, self._at, tallies, rows, undecided, notes, unmatched, self._names)

    def shown(self, group: Group) -> GroupRow:
        """A group with its shortest file as an example."""
        saved = self._members(group)[0]
        graded = saved.outcomes.graded(group.exercise)
        lines = _own_lines(group.exercise, saved.text) if saved.text is not None else ()
        # The name of a download's file begins with that of a person.
        path = saved.path or "" if self._names or saved.author not in self._people else ""
        authors, lost = tuple(group.members), tuple(lost_rows(graded))
        return GroupRow(group.name, group.exercise, authors, group.why_not, saved.author, path, lost, tuple(lines))

    def draft(self, group: Group) -> str:
        """A new known wrong answer of the shortest file of a group of which one can be made.

        Raises:
            ValueError: of none of them.
        """
        if group.why_not:
            raise ValueError(group.why_not)
        people = {
            noted.author: (noted.author, *noted.authors, self._people.get(noted.author, noted.author))
            for noted in self._journal.submissions()
        }
        why = "the journal has none of its files; run the batch once more with --rerun all"
        for saved in self._members(group):
            if saved.text is not None:
                try:
                    return draft_text(saved.outcomes.graded(group.exercise), saved.text, people[saved.author])
                except ValueError as error:
                    why = str(error)
        raise ValueError(why)

    def _members(self, group: Group) -> list[Saved]:
        """The first of a group, those with the shortest code first."""
        results = [self._journal.result(number) for number in list(group.members.values())[:_MOST_LOOKED_AT]]
        return sorted(results, key=lambda saved: (_length(saved.text), saved.author))


def _length(text: bytes | None) -> float:
    """Of the code, comments apart; what cannot be read comes last."""
    with suppress(ValueError):
        return len(plain_code(text)) if text is not None else math.inf
    return 1 << 30


def _own_lines(exercise: Exercise, text: bytes) -> Iterator[tuple[int, str]]:
    """The lines of a file below its docstring that the starter lacks, with their numbers; nothing if it is not text."""
    starter = exercise.starter.read_text(encoding="utf-8", errors="replace") if exercise.starter.is_file() else ""
    given = {line.strip() for line in starter.splitlines()}
    task = _TASK.match(text)
    with suppress(UnicodeDecodeError):
        for number, line in enumerate(text.decode("utf-8").splitlines(), 1):
            if number > (task[0].count(b"\n") if task else 0) and line.strip() and line.strip() not in given:
                yield number, line.rstrip()
