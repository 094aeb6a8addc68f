"""The hand-ins of a term joined: grace days over all of them, the lowest ones dropped, weights, one total.

Only reports are read. A person is called the same in all hand-ins if the rosters say so, or the names of submissions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from grader.batch.book import GRADEBOOK, REPORTS
from grader.batch.journal import FILE, open_journal
from grader.batch.policy import OVERRIDES, ROSTER, late_text, penalty, roster_in
from grader.course.files import suggestion
from grader.model import Course, FinalScore, HandIn, Policy
from grader.model.errors import CourseError
from grader.model.score import points_text
from grader.report.export.lms import Column
from grader.report.people import missing_of
from grader.report.safe import columns, csv_text, for_csv, for_terminal
from grader.report.schema import ReportFile, read_report

_WHOLE = 100_00
_CELL = 9
_NOTHING, _UNDECIDED = "-", "?"


@dataclass(frozen=True)
class Marks:
    """The final scores of a hand-in.

    Attributes:
        out: the folder of results that they come from.
        handin: the id, or None.
        scores: by author; those of a group each have one.
        uids: by author, what the person is called in all hand-ins.
        absent: what those on the roster are called who handed in nothing.
        names: of people by the numbers that their submissions have.
    """

    out: Path
    handin: str | None
    scores: Mapping[str, FinalScore]
    uids: Mapping[str, str]
    absent: Sequence[str]
    names: Mapping[str, str]


def marks_in(out: Path) -> Marks:
    """The final scores in a folder of results.

    Raises:
        CourseError: it has none, or overrides that are not in them yet.
    """
    book, places = out / GRADEBOOK, sorted((out / REPORTS).glob("*.json"))
    if not (book.is_file() and places):
        raise CourseError(f"{out} has no {GRADEBOOK}; name a folder that  grade batch --out  wrote, and let it end")
    written = book.stat().st_mtime_ns
    inputs = [path for path in (out / OVERRIDES, out / ROSTER) if path.is_file()]
    if changed := [path for path in inputs if path.stat().st_mtime_ns > written]:
        raise CourseError(f"{changed[0]} is newer than the gradebook; run  grade batch  again, which grades nothing")
    reports = [read_report(path) for path in places]
    ids = {exercise.id for report in reports for exercise in report.exercises}
    scores = {who: _final(report, ids) for report in reports for who in report.members}
    names: Mapping[str, str] = {}
    if (out / FILE).is_file():
        with open_journal(out, new=False) as journal:
            names = journal.names()
    people = roster_in(out, names)
    absent = [people.uid(person) for person in missing_of(people, scores)]
    return Marks(out, reports[0].handin, scores, {who: people.uid_of(who) for who in scores}, absent, names)


def column_of(marks: Marks, title: str) -> Column:
    """The final scores of a hand-in for the column of an LMS, which has one number of points for everybody."""
    most = max(score.possible for score in marks.scores.values())
    scores = {}
    for who, score in marks.scores.items():
        # With the name, a number that another column has, too, means nobody else.
        name = f"{marks.names[who]}_{who}" if who in marks.names else who
        # Of exercises with different points, different ones may have been dropped.
        scores[name] = score.final if score.final is None else round(Fraction(score.final * most, score.possible))
    return Column(title, most, scores)


def _final(report: ReportFile, ids: set[str]) -> FinalScore:
    total = report.score
    decided = None if total.undecided else total.earned
    final = report.policy or FinalScore(total.earned, None, 0, 0, 0, decided, total.possible, 0, "")
    # Of an exercise that was never graded nobody knows.
    return final if {exercise.id for exercise in report.exercises} == ids else replace(final, final=None)


def with_grace(marks: Sequence[Marks], course: Course) -> list[Marks]:
    """The hand-ins with each person's grace days used up in the order of the due dates."""
    left: dict[str, int] = {}
    done: dict[int, Marks] = {}
    for place, one in sorted(enumerate(marks), key=lambda each: _due(course.handin(each[1].handin))):
        scores = dict[str, FinalScore]()
        for author, score in one.scores.items():
            uid, days = one.uids[author], score.late_days or 0
            rest = left.get(uid, course.policy.grace_days)
            used = min(days, rest)
            left[uid] = rest - used
            of = score.raw + score.override + score.bonus
            cost = penalty(of, days - used, course.policy)
            final = None if score.final is None else of - cost
            scores[author] = replace(score, grace_days=used, penalty=cost, final=final)
        done[place] = replace(one, scores=scores)
    return [done[place] for place in range(len(marks))]


def _due(handin: HandIn | None) -> float:
    """Those without a due date last."""
    return handin.due.timestamp() if handin and handin.due else math.inf


@dataclass(frozen=True)
class TermRow:
    """One person's term.

    Attributes:
        uid: what the person is called.
        scores: by hand-in, of those that were handed in; another one counts as 0.
        total: hundredths of a percent; None while points are undecided.
        explained: all of it in one line.
    """

    uid: str
    scores: Mapping[str, FinalScore]
    total: int | None
    explained: str


def term(marks: Sequence[Marks], course: Course) -> list[TermRow]:
    """Each person's term, by name.

    Raises:
        CourseError: a folder has no hand-in of the course, or two have the same.
    """
    handins = [_known(course, one) for one in marks]
    twice = [one.id for place, one in enumerate(handins) if one in handins[:place]]
    if twice:
        raise CourseError(f"two of these folders have results of the hand-in {twice[0]}; name one of them")
    by_uid: dict[str, dict[str, FinalScore]] = {uid: {} for one in marks for uid in one.absent}
    for handin, one in zip(handins, with_grace(marks, course), strict=True):
        for author, score in one.scores.items():
            by_uid.setdefault(one.uids[author], {})[handin.id] = score
    return [_row(uid, by_uid[uid], handins, course) for uid in sorted(by_uid)]


def _known(course: Course, marks: Marks) -> HandIn:
    handin = course.handin(marks.handin)
    if handin is None:
        known = [item.id for item in course.handins]
        name = f"the hand-in {marks.handin}" if marks.handin else "no hand-in"
        raise CourseError(f"{marks.out} has results of {name}{suggestion(marks.handin or '', known)}")
    return handin


def _row(uid: str, scores: Mapping[str, FinalScore], handins: Sequence[HandIn], course: Course) -> TermRow:
    """One person's term: what was not handed in counts as 0."""
    part = {one.id: Fraction(0) for one in handins}
    part |= {id: Fraction(score.final or 0, score.possible) for id, score in scores.items()}
    lowest = sorted(handins, key=lambda one: part[one.id])[: min(course.policy.drop, len(handins) - 1)]
    weights = {one.id: Fraction(str(one.weight)) for one in handins if one not in lowest}
    total = sum((part[id] * weight for id, weight in weights.items()), Fraction(0)) / sum(weights.values())
    undecided = any(score.final is None for score in scores.values())
    explained = (_explained(one, scores.get(one.id), course.policy, dropped=one in lowest) for one in handins)
    return TermRow(uid, scores, None if undecided else int(total * _WHOLE + Fraction(1, 2)), "; ".join(explained))


def _explained(handin: HandIn, score: FinalScore | None, policy: Policy, *, dropped: bool) -> str:
    """What one hand-in adds to the total."""
    if score is None:
        text = "not handed in"
    elif score.final is None:
        text = "undecided"
    else:
        text = f"{points_text(score.final)} of {points_text(score.possible)}"
        text += f", {late_text(score, policy)}" if score.late_days else ""
    weight = f", weight {handin.weight:g}" if handin.weight != 1 else ""
    return f"{handin.id}: {text}{', dropped' if dropped else weight}"


def term_lines(rows: Sequence[TermRow], handins: Sequence[str]) -> Iterator[str]:
    """The term for a terminal; names come last, so that their width does not matter."""
    width = max(_CELL, *(columns(id) + 2 for id in handins))
    yield "".join(" " * (width - columns(id)) + id for id in handins) + f"{'total':>{_CELL}}  author"
    for row in rows:
        cells = [_cell(row.scores[id]) or _UNDECIDED if id in row.scores else _NOTHING for id in handins]
        total = _UNDECIDED if row.total is None else f"{points_text(row.total)} %"
        name = for_terminal(row.uid, one_line=True)
        yield "".join(f"{cell:>{width}}" for cell in cells) + f"{total:>{_CELL}}  {name}"
    yield f"  {_NOTHING} nothing handed in  {_UNDECIDED} undecided"


def _cell(score: FinalScore | None) -> str:
    return "" if score is None or score.final is None else points_text(score.final)


def term_csv(rows: Sequence[TermRow], handins: Sequence[str]) -> str:
    """The term as a table: a row for each person, with a column for each hand-in, and the total in percent.

    A cell is blank where nothing was handed in, or where points are undecided; then the total is blank, too.
    """
    table = [["author", *handins, "late_days", "grace_days", "total", "explained"]]
    for row in rows:
        days = sum(score.late_days or 0 for score in row.scores.values())
        grace = sum(score.grace_days for score in row.scores.values())
        total = "" if row.total is None else points_text(row.total)
        cells = (_cell(row.scores.get(id)) for id in handins)
        table.append([for_csv(row.uid), *cells, str(days), str(grace), total, for_csv(row.explained)])
    return csv_text(table)
