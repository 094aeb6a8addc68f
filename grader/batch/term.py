"""The hand-ins of a term joined: grace days over all of them, the lowest ones dropped, weights, one total.

Only reports are read. A person is called the same in all hand-ins if the rosters say so, or the names of submissions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from grader.batch.journal import FILE
from grader.batch.lateness import late_text, penalty
from grader.batch.results_folder import ResultsFolder
from grader.course.files import suggestion
from grader.model import Course, FinalScore, HandIn, Policy
from grader.model.errors import CourseError
from grader.model.score import pluralize, points_text
from grader.report.export.lms import ScoreColumn
from grader.report.people import absent_people
from grader.report.read import read_report
from grader.report.safe import column_count, csv_text, for_csv, for_terminal
from grader.report.schema import ReportFile

_WHOLE = 100_00
_CELL = 9
_NOTHING, _UNDECIDED = "-", "?"


@dataclass(frozen=True)
class HandInScores:
    """The final scores of a hand-in.

    Attributes:
        folder: the folder of results that they come from.
        handin: the id, or None.
        scores: the final scores, by author; each member of a group has one.
        uids: the identifier of the person in all hand-ins, by author.
        absent: the identifiers of people on the roster who handed in nothing.
        names: the names of people, by the numbers that their submissions have.
        platform: the platform that gave these numbers; "" if unknown.
        extra: the points of a hand-in that is nothing but extra credit, in hundredths; 0 of any other.
    """

    folder: ResultsFolder
    handin: str | None
    scores: Mapping[str, FinalScore]
    uids: Mapping[str, str]
    absent: Sequence[str]
    names: Mapping[str, str]
    platform: str = ""
    extra: int = 0

    @property
    def label(self) -> str:
        """Return the name of the hand-in for messages: "hw1 (out)" for `hw1`, graded into `out`."""
        return f"{self.handin} ({self.folder.path})" if self.handin else str(self.folder.path)

    def maximum_of(self, score: FinalScore) -> int:
        """Return the most points that a score can have, in hundredths.

        If all of the hand-in is extra credit, `score.possible` is 0, and the result is `extra`.
        """
        return score.possible or self.extra


def read_scores(out: Path) -> HandInScores:
    """Read the final scores in a folder of results.

    Raises:
        CourseError: the folder has no final scores, or overrides that are newer than them.
    """
    folder = ResultsFolder(out)
    places = folder.finished_reports()
    reports = [read_report(path) for path in places]
    ids = {exercise.id for report in reports for exercise in report.exercises}
    scores = {who: _final_score_of(report, ids) for report in reports for who in report.members}
    names, platform = dict[str, str](), ""
    if (out / FILE).is_file():
        with folder.journal() as journal:
            names, platform = journal.names(), journal.platform()
    people = folder.people(names, platform)
    absent = [people.unique_uid(person) for person in absent_people(people, scores)]
    extra = max(report.final_score.possible for report in reports) if not any(map(_possible, scores.values())) else 0
    uids = {who: people.uid_of(who) for who in scores}
    return HandInScores(folder, reports[0].handin, scores, uids, absent, names, platform, extra)


def _possible(score: FinalScore) -> int:
    return score.possible


def column_of(handin: HandInScores, title: str) -> ScoreColumn:
    """Return the final scores of a hand-in as a column of an LMS.

    All are scaled to the same maximum, as different exercises may have been dropped: if somebody can have 20 points, 5
    of 10 points become 10.

    Args:
        handin: the scores of the hand-in.
        title: the title of the column.
    """
    most = handin.extra or max(score.possible for score in handin.scores.values())
    # Of exercises with different points, different ones may have been dropped.
    scores = {
        who: score.final if score.final is None else round(Fraction(score.final * most, handin.maximum_of(score)))
        for who, score in handin.scores.items()
    }
    return ScoreColumn(title, most, scores, bool(handin.extra), handin.names, handin.platform, handin.label)


def _final_score_of(report: ReportFile, ids: set[str]) -> FinalScore:
    total = report.score
    decided = None if total.undecided else total.earned
    final = report.policy or FinalScore(total.earned, None, 0, 0, 0, decided, total.possible, 0, "")
    # Of an exercise that was never graded nobody knows.
    return final if {exercise.id for exercise in report.exercises} == ids else replace(final, final=None)


def with_grace(all_scores: Sequence[HandInScores], course: Course) -> list[HandInScores]:
    """Return the hand-ins with the grace days of each person spent as well as possible.

    Grace days are days late that cost nothing. They are spent where they save most of the term's total: with equal
    weights, on `hw1` if a day costs 10 % of that and 5 % of `hw2`. A hand-in on which they save nothing gets no grace
    days. Where several ways save the same, the fewest days are spent, on the hand-ins that are due first.
    """
    ordered = sorted(range(len(all_scores)), key=lambda place: _due_key(course.handin(all_scores[place].handin)))
    own: dict[str, list[tuple[int, str]]] = {}
    for place in ordered:
        for author in all_scores[place].scores:
            own.setdefault(all_scores[place].uids[author], []).append((place, author))
    changed = [dict(one.scores) for one in all_scores]
    for places in own.values():
        for (place, author), score in zip(places, _scores_with_grace(all_scores, places, course), strict=True):
            changed[place][author] = score
    return [replace(one, scores=scores) for one, scores in zip(all_scores, changed, strict=True)]


def other_score_changes(all_scores: Sequence[HandInScores], chosen: Sequence[int], course: Course) -> list[str]:
    """Return a sentence for each other hand-in whose scores change with grace days.

    They change because the chosen hand-ins use up grace days. An example is "Grace days save more elsewhere: 1 score of
    hw2 (b) changed; fill in that hand-in again, with the same folders."

    Args:
        all_scores: the scores of all hand-ins.
        chosen: the indices in `all_scores` of the hand-ins whose scores are filled in now; no sentence is about these.
        course: the course, which has the policy.
    """
    others = [place for place in range(len(all_scores)) if place not in chosen]
    alone = with_grace([all_scores[place] for place in others], course)
    together = with_grace(all_scores, course)
    lines = []
    for before, place in zip(alone, others, strict=True):
        if moved := [who for who, score in before.scores.items() if together[place].scores[who].final != score.final]:
            lines.append(
                f"Grace days save more elsewhere: {pluralize(len(moved), 'score')} of {before.label} changed; "
                "fill in that hand-in again, with the same folders."
            )
    return lines


def _scores_with_grace(
    all_scores: Sequence[HandInScores], places: Sequence[tuple[int, str]], course: Course
) -> list[FinalScore]:
    """Return the scores of one person, with grace days spent as well as possible.

    They are in the order of `places`, which is that of the due dates.

    Args:
        all_scores: the scores of all hand-ins.
        places: a pair for each hand-in that the person handed in: its index in `all_scores`, and the author's name
            there.
        course: the course, which has the policy.
    """
    own = [(all_scores[place], all_scores[place].scores[author]) for place, author in places]
    rows = [(score, one.maximum_of(score)) for one, score in own]
    values = [_worth_in_term(one.handin, one.maximum_of(score), course) for one, score in own]
    # What was not handed in counts as 0, and is dropped first.
    drop = max(0, min(course.policy.drop, len(all_scores) - 1) - (len(all_scores) - len(rows)))
    while True:  # until no hand-in that is dropped has grace days
        days = _best_grace_days([(score, value) for (score, _), value in zip(rows, values, strict=True)], course.policy)
        scores = [_with_grace_days(score, used, course.policy) for (score, _), used in zip(rows, days, strict=True)]
        parts = [Fraction(score.final or 0, points or 1) for score, (_, points) in zip(scores, rows, strict=True)]
        wasted = [at for at in sorted(range(len(rows)), key=parts.__getitem__)[:drop] if days[at]]
        if not wasted:
            return scores
        for at in wasted:
            values[at] = Fraction(0)


def _worth_in_term(handin: str | None, points: int, course: Course) -> Fraction:
    """Return the part of a hand-in's weight that a hundredth of a point is worth.

    With weight 2 and 10 points, it is `Fraction(1, 500)`.

    Args:
        handin: the id of the hand-in, or None.
        points: the most points that the hand-in can have, in hundredths.
        course: the course, which has the weights.
    """
    known = course.handin(handin)
    return Fraction(str(known.weight if known else 1)) / (points or 1)


def _best_grace_days(rows: Sequence[tuple[FinalScore, Fraction]], policy: Policy) -> list[int]:
    """Return the number of grace days to spend on each score to save the most points.

    At 10 % a day, let a hand-in of 20 points be 2 days late, and one of 10 points 1 day. With 2 grace days the result
    is `[2, 0]`, if points of both are worth the same.

    Args:
        rows: the scores of one person, each with what a hundredth of a point of it is worth in the term.
        policy: the policy of the course.
    """
    # By the days spent: what that saves, fewer days first, and how many each gets.
    best: dict[int, tuple[Fraction, int, tuple[int, ...]]] = {0: (Fraction(0), 0, ())}
    for score, value in rows:
        of, late = _score_before_late_days(score), score.late_days or 0
        saved = [penalty(of, late, policy) - penalty(of, late - days, policy) for days in range(late + 1)]
        ways: dict[int, tuple[Fraction, int, tuple[int, ...]]] = {}
        for used, (so_far, _, given) in best.items():
            for days in range(min(late, policy.grace_days - used) + 1):
                way = (so_far + saved[days] * value, -(used + days), (*given, days))
                ways[used + days] = max(ways.get(used + days, way), way)
        best = ways
    return list(max(best.values())[2])


def _score_before_late_days(score: FinalScore) -> int:
    return score.raw + score.override + score.bonus


def _with_grace_days(score: FinalScore, grace: int, policy: Policy) -> FinalScore:
    """Return a score after `grace` grace days were spent on it."""
    cost = penalty(_score_before_late_days(score), (score.late_days or 0) - grace, policy)
    final = None if score.final is None else _score_before_late_days(score) - cost
    return replace(score, grace_days=grace, penalty=cost, final=final)


def _due_key(handin: HandIn | None) -> float:
    """Return a sort key by due date; hand-ins without one come last."""
    return handin.due.timestamp() if handin and handin.due else math.inf


@dataclass(frozen=True)
class TermRow:
    """The scores of one person in a term.

    Attributes:
        uid: the identifier of the person in all hand-ins.
        scores: the scores of the hand-ins that were handed in, by hand-in; any other one counts as 0.
        total: hundredths of a percent; None while points are undecided.
        explained: all of it in one line.
    """

    uid: str
    scores: Mapping[str, FinalScore]
    total: int | None
    explained: str


def term_rows(all_scores: Sequence[HandInScores], course: Course) -> list[TermRow]:
    """Return a row for each person in a term, with the scores and the total.

    The rows are sorted by the identifier of the person.

    Raises:
        CourseError: a folder has no hand-in of the course, or two have the same.
    """
    handins = [_find_handin(course, one) for one in all_scores]
    twice = [one.id for place, one in enumerate(handins) if one in handins[:place]]
    if twice:
        raise CourseError(f"two of these folders have results of the hand-in {twice[0]}; name one of them")
    by_uid: dict[str, dict[str, FinalScore]] = {uid: {} for one in all_scores for uid in one.absent}
    for handin, one in zip(handins, with_grace(all_scores, course), strict=True):
        for author, score in one.scores.items():
            by_uid.setdefault(one.uids[author], {})[handin.id] = score
    of = {handin.id: one for handin, one in zip(handins, all_scores, strict=True)}
    return [_term_row(uid, by_uid[uid], handins, of, course) for uid in sorted(by_uid)]


def _find_handin(course: Course, graded: HandInScores) -> HandIn:
    handin = course.handin(graded.handin)
    if handin is None:
        known = [item.id for item in course.handins]
        name = f"the hand-in {graded.handin}" if graded.handin else "no hand-in"
        raise CourseError(f"{graded.folder.path} has results of {name}{suggestion(graded.handin or '', known)}")
    return handin


def _term_row(
    uid: str,
    scores: Mapping[str, FinalScore],
    handins: Sequence[HandIn],
    all_scores: Mapping[str, HandInScores],
    course: Course,
) -> TermRow:
    """Return one person's row of the term; what was not handed in counts as 0.

    Args:
        uid: the identifier of the person.
        scores: the person's final scores, by the id of the hand-in.
        handins: the hand-ins that count in the term.
        all_scores: everybody's scores, by the id of the hand-in.
        course: the course, which has the policy.
    """
    bonus = {id for id, one in all_scores.items() if one.extra}
    points = {id: all_scores[id].maximum_of(score) for id, score in scores.items()}
    part = {one.id: Fraction(0) for one in handins}
    part |= {id: Fraction(score.final or 0, points[id]) for id, score in scores.items()}
    plain = [one for one in handins if one.id not in bonus]
    lowest = sorted(plain, key=lambda one: part[one.id])[: max(0, min(course.policy.drop, len(plain) - 1))]
    weights = {one.id: Fraction(str(one.weight)) for one in handins if one not in lowest}
    # A hand-in of extra credit adds to the total, and never to what can be earned.
    whole = sum(weight for id, weight in weights.items() if id not in bonus) or sum(weights.values())
    total = sum((part[id] * weight for id, weight in weights.items()), Fraction(0)) / whole
    undecided = any(score.final is None for score in scores.values())
    explained = (_explanation_of(one, scores.get(one.id), course.policy, dropped=one in lowest) for one in handins)
    return TermRow(uid, scores, None if undecided else int(total * _WHOLE + Fraction(1, 2)), "; ".join(explained))


def _explanation_of(handin: HandIn, score: FinalScore | None, policy: Policy, *, dropped: bool) -> str:
    """Return in words what one hand-in adds to a person's total of the term.

    An example is "midterm: 8 of 10 (10 before), 2 days late, which costs 20 % of 10 points: 2, weight 2".
    """
    if score is None:
        text = "not handed in"
    elif score.final is None:
        text = "undecided"
    else:
        text = (
            f"{points_text(score.final)} of {points_text(score.possible)}"
            if score.possible
            else (f"{points_text(score.final)} as extra credit")
        )
        text += f" ({points_text(_score_before_late_days(score))} before)" if score.penalty else ""
        text += f", {late_text(score, policy)}" if score.late_days else ""
    weight = f", weight {handin.weight:g}" if handin.weight != 1 else ""
    return f"{handin.id}: {text}{', dropped' if dropped else weight}"


def term_lines(rows: Sequence[TermRow], handins: Sequence[str]) -> Iterator[str]:
    """Yield the rows of a term as lines for a terminal.

              hw1      hw2    total  author
                8        -     80 %  ada

    Names come last, so that their width does not matter.
    """
    width = max(_CELL, *(column_count(id) + 2 for id in handins))
    yield "".join(" " * (width - column_count(id)) + id for id in handins) + f"{'total':>{_CELL}}  author"
    for row in rows:
        cells = [_score_cell(row.scores[id]) or _UNDECIDED if id in row.scores else _NOTHING for id in handins]
        total = _UNDECIDED if row.total is None else f"{points_text(row.total)} %"
        name = for_terminal(row.uid, one_line=True)
        yield "".join(f"{cell:>{width}}" for cell in cells) + f"{total:>{_CELL}}  {name}"
    yield f"  {_NOTHING} nothing handed in  {_UNDECIDED} undecided"


def _score_cell(score: FinalScore | None) -> str:
    return "" if score is None or score.final is None else points_text(score.final)


def term_csv(rows: Sequence[TermRow], handins: Sequence[str]) -> str:
    """Return the term as a CSV table with a row for each person.

    It has a column for each hand-in, and the total in percent. A cell is blank where nothing was handed in, or where
    points are undecided; then the total is blank, too.
    """
    table = [["author", *handins, "late_days", "grace_days", "total", "explained"]]
    for row in rows:
        days = sum(score.late_days or 0 for score in row.scores.values())
        grace = sum(score.grace_days for score in row.scores.values())
        total = "" if row.total is None else points_text(row.total)
        cells = (_score_cell(row.scores.get(id)) for id in handins)
        table.append([for_csv(row.uid), *cells, str(days), str(grace), total, for_csv(row.explained)])
    return csv_text(table)
