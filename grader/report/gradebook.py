"""The gradebook of a class, for a terminal and for spreadsheets.

Names come last in a row, so that their width does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import click

from grader.model import Exercise, GradedExercise, Report, Verdict
from grader.model.course import WHOLE
from grader.model.progress import Progress
from grader.model.score import pluralize, points_text
from grader.report.blocks import Rate
from grader.report.console import Pace, Say, print_error
from grader.report.safe import csv_text, for_csv, for_terminal
from grader.report.schema import ExerciseEntry, ReportFile
from grader.report.words import score_text

_CELL = 7
_NOTHING, _BLANK, _NEVER = "-", "=", "?"
SIGNS = {_NOTHING: "nothing handed in", _BLANK: "handed in as it was given out", _NEVER: "not graded"}
"""What stands in place of points, and what it says."""
_LAST = ("earned", "possible", "undecided", "late_days", "final", "not_handed_in", "not_started", "explained")


def author_line(report: Report, number: int, total: int, names: Mapping[str, str]) -> str:
    """Return the line that shows a graded author: the count so far, the score, the name.

    An example is `[3/40]        8.5 / 10  ada`.

    Args:
        report: the author's report.
        number: the number of submissions that are graded now.
        total: the number of submissions.
        names: the names that are printed behind author names, by author name.
    """
    return f"[{number}/{total}] {score_text(report.final_score):>15}  {_author_and_name(report.author, names)}"


def _author_and_name(author: str, names: Mapping[str, str]) -> str:
    return for_terminal(f"{author} {names.get(author, '')}".rstrip(), one_line=True)


BY_HAND = "enter them in overrides.csv"
"""Where staff writes the points of rules that no check examines."""


def gradebook_lines(
    exercises: Sequence[Exercise], reports: Iterable[Report], names: Mapping[str, str]
) -> Iterator[str]:
    """Yield the lines of the gradebook: a row for each author, then a legend.

    The last lines say how many checks are undecided, and which rules still need points from a person.

    Args:
        exercises: the exercises that have columns.
        reports: the reports of the submissions.
        names: the names that are printed behind author names, by author name.
    """
    yield "".join(f"{exercise.number:>{_CELL}}" for exercise in exercises) + f"{'total':>16}  author"
    verdicts: Counter[Verdict] = Counter()
    by_staff: Counter[tuple[str, str]] = Counter()
    seen: set[str] = set()
    for report in reports:
        graded_of = {graded.exercise.id: graded for graded in report.exercises}
        cells = [cell_text(graded_of.get(exercise.id)) for exercise in exercises]
        seen.update(cells)
        row = "".join(f"{cell:>{_CELL}}" for cell in cells)
        for author in report.authors or (report.author,):
            yield f"{row}{score_text(report.final_score):>16}  {_author_and_name(author, names)}"
        for graded in report.exercises:
            mine = [row for row in graded.checks if row.check.id in graded.exercise.staff]
            verdicts.update(row.verdict for row in graded.checks if row not in mine)
            by_staff.update((graded.exercise.number, id) for id in rules_without_points(graded))
    if signs := [f"{sign} {meaning}" for sign, meaning in SIGNS.items() if sign in seen]:
        yield "  ".join(["", *signs])
    # Undecided points look like lost ones in a column of numbers, so they are said in words.
    for verdict in (Verdict.NOT_RUN, Verdict.INCONCLUSIVE, Verdict.BROKEN):
        if count := verdicts[verdict]:
            yield f"{count} checks are {verdict.value.replace('_', ' ')}: their points are undecided, not lost"
    for (number, rule), count in by_staff.items():
        yield f"{needs_points_text(number, rule, count)}; {BY_HAND}"


def rules_without_points(graded: GradedExercise) -> list[str]:
    """Return the rules of an exercise for which a person still has to enter points.

    An example is `["C4"]`. `WHOLE` stands for the whole exercise.
    """
    waits = [row.check.id for row in graded.checks if row.check.id in graded.exercise.staff and not row.set_by]
    return [] if graded.set_by else waits


def needs_points_text(exercise: str, rule: str, count: int) -> str:
    """Return the sentence that says how many submissions still need points from a person.

    An example is "02-1 C4: 3 submissions still need points from a person".

    Args:
        exercise: the number or the id of the exercise.
        rule: the rule; `WHOLE` for the whole exercise.
        count: the number of submissions.
    """
    name = exercise if rule == WHOLE else f"{exercise} {rule}"
    return f"{name}: {pluralize(count, 'submission')} still need{'s' * (count == 1)} points from a person"


def cell_text(graded: GradedExercise | None) -> str:
    """Return what an author's cell for an exercise shows: points such as "8.5", or a sign.

    The sign is "-" if nothing was handed in, "=" for the unchanged starter, and "?" if it was not graded.
    """
    return _NEVER if graded is None else _sign_for_no_points(graded) or points_text(graded.score.earned)


def _sign_for_no_points(graded: GradedExercise | ExerciseEntry) -> str:
    """Return "-" for an exercise that was not handed in, "=" if not started; else ""."""
    if not (graded.handed_in or graded.set_by):
        return _NOTHING
    return _BLANK if graded.state == "not_started" else ""


def gradebook_csv(
    ids: Sequence[str],
    reports: Iterable[ReportFile],
    absent: Iterable[str] = (),
    *,
    possible: int = 0,
    names: Mapping[str, str] | None = None,
    needed: Collection[str] | None = None,
) -> str:
    """Return the gradebook as CSV, with a row for each person, sorted by author.

    Each member of a group has a row, and so has each absent person. A cell is blank if no file of the exercise was
    handed in, or if it was not graded. The columns `not_handed_in` and `not_started` list ids of exercises: a number
    alone would look like an answer that earned nothing.

    Args:
        ids: the ids of the exercises that have columns.
        reports: the reports of the submissions.
        absent: the people who handed in nothing.
        possible: the points of all exercises together, in hundredths, for the rows of absent people.
        names: the names of people, by author name, for a last column; None for no such column.
        needed: the exercises without which a score is not final; None for all.
    """
    table = [["author", *map(for_csv, ids), *_LAST, *(["name"] if names is not None else [])]]
    nothing = [*[""] * len(ids), "0", points_text(possible), "0", "", "0", for_csv(" ".join(ids)), "", ""]
    whole = frozenset(ids if needed is None else needed)
    rows = [(report.author, report.members, _cells_of_author(report, ids, whole)) for report in reports]
    rows += [(author, (author,), nothing) for author in absent]
    for _, authors, cells in sorted(rows, key=lambda row: row[0]):
        for author in authors:
            name = [for_csv(names.get(author, ""))] if names is not None else []
            table.append([for_csv(author), *cells, *name])
    return csv_text(table)


def _cells_of_author(report: ReportFile, ids: Sequence[str], needed: frozenset[str]) -> list[str]:
    """Return the cells that follow the author's name in a row of the gradebook.

    They have the points of each exercise, the totals, the ids of exercises that were not handed in or not started, and
    how the final score was computed.

    Args:
        report: the author's report.
        ids: the ids of the exercises that have columns.
        needed: the ids of the exercises without which the final score stays blank.
    """
    total, policy = report.score, report.policy
    earned = {row.id: row.score.earned for row in report.exercises}
    signs = {row.id: _sign_for_no_points(row) for row in report.exercises}
    decided = not total.undecided and needed <= earned.keys()
    final = policy.final if policy else total.earned
    late = policy.late_days if policy else None
    return [
        *(points_text(earned[id]) if signs.get(id, _NOTHING) != _NOTHING else "" for id in ids),
        *map(points_text, (total.earned, total.possible, total.undecided)),
        "" if late is None else str(late),
        points_text(final) if decided and final is not None else "",
        *(for_csv(" ".join(id for id in ids if signs.get(id) == sign)) for sign in (_NOTHING, _BLANK)),
        for_csv(policy.explained) if policy else "",
    ]


class ClassProgress(Progress):
    """Prints a line for each author of a class who was graded, and shows the rate of the run.

    Args:
        say: the object that prints them.
        names: the names of authors, where they are printed.

    Attributes:
        done: the number of authors who were graded.
    """

    def __init__(self, say: Say, names: Mapping[str, str]) -> None:
        self.done = 0
        self._say = say
        self._names = names
        self._pace = Pace(say, "what was inconclusive is measured again, alone")
        self._mistakes = Rate()
        self._compared = (0, 0)

    def reported(self, report: Report, number: int, total: int) -> None:
        """Print the line of the author whose submission was just graded.

        Args:
            report: the report of the author.
            number: the number of submissions that are graded now.
            total: the number of submissions.
        """
        self.done += 1
        self._say(author_line(report, number, total, self._names))

    def compared(self, done: int, total: int) -> None:
        """Record how many known wrong answers were compared with submissions; `advanced` shows it."""
        self._compared = done, total

    def advanced(self, done: int, total: int) -> None:
        """Show how many submissions are done.

        Until the first submission is done, also show how many known wrong answers were compared.
        """
        # Wrong answers run once for all submissions, before the first of these: until then their pace is what changes.
        compared, known = self._compared
        mistakes = f"; known mistakes: {self._mistakes.text(compared, known)} at most" if compared and not done else ""
        self._pace(done, total, mistakes)

    def noted(self, line: str) -> None:
        """Print a line about the run, such as a cluster's, on standard error."""
        click.echo()
        print_error(line)
