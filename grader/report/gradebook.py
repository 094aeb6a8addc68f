"""A class: its gradebook for a terminal and for spreadsheets, its overview, and what a regrade changed.

Names come last in a row, so that their width does not matter.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.model import Exercise, FinalScore, GradedExercise, Report, Score, Verdict
from grader.model.score import counted, points_text
from grader.report.overview import GroupRow, Overview
from grader.report.safe import cut, for_csv, for_terminal, prose
from grader.report.schema import ExerciseEntry, ReportFile
from grader.report.words import VERDICTS, score_text

_CELL = 7
_NOTHING, _BLANK, _NEVER = "-", "=", "?"
_SIGNS = {_NOTHING: "nothing handed in", _BLANK: "handed in as it was given out", _NEVER: "not graded"}
_FEW_LINES, _FEW_ROWS = 12, 4
_STEP = "      "
_BESIDE, _WIDE = 30, 70
_LAST = ("earned", "possible", "undecided", "late_days", "final", "not_handed_in", "not_started", "explained")
_LEGEND = "in: handed in; all: with all points; known: made a known mistake; new: not explained"


def author_line(report: Report, number: int, total: int, names: Mapping[str, str]) -> str:
    """One line of progress."""
    return f"[{number}/{total}] {score_text(report.score):>15}  {_named(report.author, names)}"


def _named(author: str, names: Mapping[str, str]) -> str:
    return for_terminal(f"{author} {names.get(author, '')}".rstrip(), one_line=True)


def gradebook_lines(
    exercises: Sequence[Exercise], reports: Iterable[Report], names: Mapping[str, str]
) -> Iterator[str]:
    """The table, what its signs mean, and how many outcomes are undecided.

    Args:
        exercises: those that have columns.
        reports: of the submissions.
        names: of people, by the number that is shown otherwise.
    """
    yield "".join(f"{exercise.number:>{_CELL}}" for exercise in exercises) + f"{'total':>16}  author"
    verdicts: Counter[Verdict] = Counter()
    seen: set[str] = set()
    for report in reports:
        graded_of = {graded.exercise.id: graded for graded in report.exercises}
        cells = [cell_text(graded_of.get(exercise.id)) for exercise in exercises]
        seen.update(cells)
        row = "".join(f"{cell:>{_CELL}}" for cell in cells)
        for author in report.authors or (report.author,):
            yield f"{row}{score_text(report.score):>16}  {_named(author, names)}"
        verdicts.update(row.verdict for graded in report.exercises for row in graded.checks)
    if signs := [f"{sign} {meaning}" for sign, meaning in _SIGNS.items() if sign in seen]:
        yield "  ".join(["", *signs])
    # Undecided points look like lost ones in a column of numbers, so they are said in words.
    for verdict in (Verdict.NOT_RUN, Verdict.INCONCLUSIVE, Verdict.BROKEN):
        if count := verdicts[verdict]:
            yield f"{count} checks are {verdict.value.replace('_', ' ')}: their points are undecided, not lost"


def cell_text(graded: GradedExercise | None) -> str:
    """Points, or a sign where there is nothing to give points for."""
    return _NEVER if graded is None else _sign(graded) or points_text(graded.score.earned)


def _sign(graded: GradedExercise | ExerciseEntry) -> str:
    """What stands in place of points, unless there is a file to give points for, or a decision of staff's; else ""."""
    if not (graded.handed_in or graded.set_by):
        return _NOTHING
    return _BLANK if graded.state == "not_started" else ""


def overview_lines(overview: Overview, width: int) -> Iterator[str]:
    """The class, its exercises, and what is undecided."""
    people = counted(len(overview.rows), "submission")
    yield from prose(f"{overview.course}: {people}, {overview.middle}", width, further="  ")
    yield ""
    yield f"{'in':>5}{'all':>5}{'mean':>6}{'known':>7}{'new':>5}  exercise"
    for tally in overview.exercises:
        numbers = f"{len(tally.scores):>5}{tally.full:>5}{tally.mean:>6}{tally.explained:>7}{tally.unexplained:>5}  "
        yield from prose(f"{numbers}{tally.exercise.number} {tally.exercise.title}", width, further=" " * len(numbers))
        if hardest := tally.hardest:
            indent = " " * (_BESIDE if width >= _WIDE else len(_STEP))
            yield from prose(f"{hardest.lost} lose {hardest.check.contract} {hardest.check.title}", width, indent)
    yield from prose(_LEGEND, width, "  ", "  ")
    for verdict, count in Counter(verdict for _, _, verdict in overview.open).items():
        text = f"{VERDICTS[verdict][0]}: {counted(count, 'exercise')} of submissions; the page names them."
        yield from prose(text, width, further="  ")


def group_lines(groups: Sequence[GroupRow], most: int, width: int) -> Iterator[str]:
    """The largest groups, each with an example."""
    if groups:
        shown = f" ({most} of {len(groups)}; report.html has the others)" if len(groups) > most else ""
        yield ""
        text = f"Answers that no known mistake explains, grouped by behaviour{shown}:"
        yield from prose(text, width, further="  ")
    for group in groups[:most]:
        count = counted(len(group.authors), "submission")
        yield from prose(f"{group.name}  {count} of {group.exercise.number} {group.exercise.title}", width, "", _STEP)
        where = f", {group.path}" if group.path else ""
        yield from prose(for_terminal(f"{group.author}{where}", one_line=True), width, _STEP, "  ")
        for row in group.rows[:_FEW_ROWS]:
            title = f"{VERDICTS[row.outcome.verdict][0]:<6}{row.check.contract} {row.check.title}"
            yield from prose(title, width, _STEP, _STEP)
        if (more := len(group.rows) - _FEW_ROWS) > 0:
            yield f"{_STEP}... {counted(more, 'more check')}"
        for number, line in group.lines[:_FEW_LINES]:
            yield cut(f"{_STEP}{number:>4}  {for_terminal(line, one_line=True)}", width)
        if (more := len(group.lines) - _FEW_LINES) > 0:
            yield f"{_STEP}      ... {counted(more, 'more line')}"
        if group.why_not:
            yield from prose(f"No wrong answer can be made of it: {group.why_not}.", width, _STEP, "  ")


@dataclass(frozen=True)
class GradebookRow:
    """What stands in a gradebook of one submission.

    Attributes:
        authors: of it; each gets a row.
        score: of all exercises together.
        earned: hundredths of a point by exercise, of those that were graded.
        signs: by exercise, what stands in place of its points, or "".
        policy: what counts in the end, where that is not what was earned.
    """

    authors: tuple[str, ...]
    score: Score
    earned: Mapping[str, int]
    signs: Mapping[str, str]
    policy: FinalScore | None = None

    @classmethod
    def absent(cls, author: str, exercises: Sequence[Exercise]) -> GradebookRow:
        """That of somebody who handed in nothing."""
        ids = [exercise.id for exercise in exercises]
        possible = sum(exercise.points for exercise in exercises)
        return cls((author,), Score(0, possible), dict.fromkeys(ids, 0), dict.fromkeys(ids, _NOTHING))

    @classmethod
    def of(cls, report: Report) -> GradebookRow:
        """That of a report."""
        earned = {row.exercise.id: row.score.earned for row in report.exercises}
        signs = {row.exercise.id: _sign(row) for row in report.exercises}
        return cls(report.authors or (report.author,), report.score, earned, signs, report.policy)

    @classmethod
    def read(cls, report: ReportFile) -> GradebookRow:
        """That of a report that was read from a file."""
        earned = {row.id: row.score.exact.earned for row in report.exercises}
        signs = {row.id: _sign(row) for row in report.exercises}
        return cls(report.members, report.score.exact, earned, signs, report.policy.exact if report.policy else None)


def gradebook_csv(ids: Sequence[str], rows: Iterable[GradebookRow], names: Mapping[str, str] | None = None) -> str:
    """A row for each author, also of those in a group.

    A cell is blank where no file of the exercise was handed in, or where it was not graded. What an author did not hand
    in, and what was handed in as it was given out, is named at the end of the row: a number would look like an
    answer that earned nothing.

    Args:
        ids: of the exercises that have columns.
        rows: of the submissions.
        names: of people, by the number in the first column; with it, they stand in the last one.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["author", *map(for_csv, ids), *_LAST, *(["name"] if names is not None else [])])
    for row in rows:
        total = row.score
        decided = not total.undecided and len(row.earned) == len(ids)
        final = row.policy.final if row.policy else total.earned
        late = row.policy.late_days if row.policy else None
        cells = [
            *(points_text(row.earned[id]) if row.signs.get(id, _NOTHING) != _NOTHING else "" for id in ids),
            *map(points_text, (total.earned, total.possible, total.undecided)),
            "" if late is None else late,
            points_text(final) if decided and final is not None else "",
            *(for_csv(" ".join(id for id in ids if row.signs.get(id) == sign)) for sign in (_NOTHING, _BLANK)),
            for_csv(row.policy.explained) if row.policy else "",
        ]
        for author in row.authors:
            name = [for_csv(names.get(author, ""))] if names is not None else []
            writer.writerow([for_csv(author), *cells, *name])
    return text.getvalue()
