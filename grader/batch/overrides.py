"""Points that staff gives by hand: the rows of overrides.csv, and the reports that they change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field

from grader.course.files import Points, Strict, suggestion, validate
from grader.model import Course, GradedCheck, GradedExercise, Report, Score
from grader.model.errors import CourseError
from grader.model.score import points_text
from grader.report.csv_table import CsvTable, with_row
from grader.report.names import fold_name
from grader.report.safe import for_csv

OVERRIDES = "overrides.csv"
"""Points that staff gives by hand, in the folder of results. The file survives each regrade.

A row gives the points of one check, or of a whole exercise where `check` is empty, and says why.
"""
TITLES = ("author", "exercise", "check", "points", "why")
_MOST_PROBLEMS = 50


class StaffRow(Strict):
    """A row of a table that staff writes, about an exercise of an author.

    Attributes:
        author: the author of the submission, or one of its group; folded.
        exercise: the id or the number.
        row: the line of the file.
    """

    author: Annotated[str, Field(min_length=1), AfterValidator(fold_name)]
    exercise: Annotated[str, Field(min_length=1)]
    row: int


Row = TypeVar("Row", bound=StaffRow)


class Override(StaffRow):
    """Points that staff gives: a row of overrides.csv.

    Attributes:
        check: its id; "" for the whole exercise.
        points: not in hundredths.
        why: a sentence.
    """

    check: Annotated[str, AfterValidator(lambda name: name.removeprefix("check_"))] = ""
    points: Points
    why: Annotated[str, Field(min_length=1)]

    @property
    def worth(self) -> int:
        """Return the points of this override in hundredths: 750 for `points` 7.5."""
        return round(self.points * 100)

    def problem(self, report: Report) -> str:
        """Return why the override cannot be applied to its author's report, or "".

        An example is "7.5 is more than 5 points".
        """
        graded = next((one for one in report.exercises if one.exercise.id == self.exercise), None)
        if graded is None:
            return f"{self.exercise} was not graded for {self.author}"
        possible = graded.score.possible
        if self.check:
            rows = {row.check.id: row for row in graded.checks}
            if self.check not in rows:
                hint = suggestion(self.check, list(rows)) if rows else "; no check ran, so leave the column check empty"
                return f"{self.exercise} has no check {self.check} for {self.author}{hint}"
            possible = rows[self.check].score.possible
        return f"{points_text(self.worth)} is more than {points_text(possible)} points" * (self.worth > possible)


def read_overrides(path: Path, course: Course) -> tuple[Override, ...]:
    """Read the points that staff entered in overrides.csv; return () if the file is missing.

    Those for whole exercises come last, so that they count in place of points for single checks.

    Args:
        path: the path of the file.
        course: the course whose exercises they name.

    Raises:
        CourseError: rows of the file are wrong; it lists them all.
    """
    same = "gives points for the same check"
    rows = read_rows(path, course, Override, lambda one: (one.author, one.exercise, one.check), same)
    return tuple(sorted(rows, key=lambda one: not one.check))  # those of whole exercises have the last word


def read_rows(
    path: Path, course: Course, kind: type[Row], key_of: Callable[[Row], Hashable], words_if_repeated: str
) -> list[Row]:
    """Read a CSV table that staff wrote, such as overrides.csv; return [] without the file.

    For overrides.csv, each row becomes an `Override`.

    Args:
        path: the path of the file.
        course: the course; a row may name an exercise by its number, which becomes the id.
        kind: the class of the result's items: `Override` or `Comment`.
        key_of: a function that returns what an item is about, such as its author, exercise and check. Two rows about
            the same are an error.
        words_if_repeated: the end of the message about such rows: "gives points for the same check" in "line 5: line 3
            gives points for the same check; remove one of the two".

    Raises:
        CourseError: rows of the file are wrong; it lists them all.
    """
    if not path.is_file():
        return []
    table, problems = CsvTable(path), list[str]()
    names = {name: exercise.id for exercise in course.exercises for name in (exercise.id, exercise.number)}
    made: dict[Hashable, Row] = {}
    for row, line in zip(table.rows[1:], table.lines[1:], strict=True):
        if len(problems) >= _MOST_PROBLEMS:
            problems.append(f"{path}: problems after line {line - 1} are not listed")
            break
        where = f"{path}: line {line}"
        cells = {name: cell.strip() for name, cell in zip(table.header, row, strict=False) if name}
        if "points" in cells:
            cells["points"] = cells["points"].replace(",", ".")  # as half of the world writes 7.5
        exercise, read = cells.get("exercise", ""), None
        try:
            read = validate(cells | {"row": line}, where, kind)
        except CourseError as error:
            problems += error.problems
        if read is None:
            continue
        one = read.model_copy(update={"exercise": names.get(exercise, exercise)})
        first = made.setdefault(key_of(one), one)
        if first is not one:
            problems.append(f"{where}: line {first.row} {words_if_repeated}; remove one of the two")
    if problems:
        raise CourseError(*problems)
    return list(made.values())


def with_override(path: Path, course: Course, one: Override, author: str, names: Collection[str]) -> str | bytes:
    """Return the content of overrides.csv with a new override.

    An older override of the same check, or of the same whole exercise, is replaced.

    Args:
        path: the path of overrides.csv.
        course: the course whose exercises the rows name.
        one: the override.
        author: the author's name in the new row.
        names: all names of the authors of the submission, folded.

    Raises:
        CourseError: the file cannot be read, or lacks a column.
    """
    same = [
        other.row
        for other in read_overrides(path, course)
        if other.author in names and (other.exercise, other.check) == (one.exercise, one.check)
    ]
    cells = (for_csv(author), one.exercise, one.check, f"{one.worth / 100:g}", one.why)
    return with_row(path, TITLES, dict(zip(TITLES, cells, strict=True)), same)


def with_overrides(report: Report, overrides: Sequence[Override], names: Collection[str]) -> Report:
    """Return the report with the points that staff entered for it.

    Overrides that do not apply to the report are ignored.

    Args:
        report: the report, with the points that checks gave.
        overrides: every row of the course.
        names: all names by which a row may call the author.
    """
    for one in overrides:
        if one.author in names and not one.problem(report):
            rows = [
                _apply_override(graded, one) if graded.exercise.id == one.exercise else graded
                for graded in report.exercises
            ]
            report = replace(report, exercises=tuple(rows))
    return report


def _apply_override(graded: GradedExercise, one: Override) -> GradedExercise:
    """Return an exercise with the points of an override, and with new sums.

    The override is of the whole exercise or of one check.
    """
    if not one.check:
        return replace(graded, score=Score(one.worth, graded.score.possible), withheld_points=0, set_by=one.why)

    def given(row: GradedCheck) -> GradedCheck:
        if row.check.id != one.check:
            return row
        outcome = row.outcome
        if row.check.id in graded.exercise.staff:  # there is nothing to wait for any more
            outcome = replace(outcome, message="")
        return replace(row, outcome=outcome, score=Score(one.worth, row.score.possible), held_back=0, set_by=one.why)

    checks = tuple(map(given, graded.checks))
    change = [(new.score, old.score) for new, old in zip(checks, graded.checks, strict=True)]
    earned = graded.score.earned + sum(new.earned - old.earned for new, old in change)
    undecided = graded.score.undecided + sum(new.undecided - old.undecided for new, old in change)
    return replace(graded, checks=checks, score=Score(earned, graded.score.possible, undecided))


def staff_decisions(report: Report) -> Iterator[tuple[GradedExercise, str, str]]:
    """Yield what staff decided in a report: the exercise, the id of the check or "", and why.

    In `(graded, "shape", "right idea")`, staff set the points of the check `shape`. With "" in place of its id, they
    set those of the whole exercise.
    """
    for graded in report.exercises:
        if graded.set_by:
            yield graded, "", graded.set_by
        else:
            yield from ((graded, row.check.id, row.set_by) for row in graded.checks if row.set_by)


def unused_overrides(
    overrides: Sequence[Override], reports: Sequence[tuple[Collection[str], Report]], course: Course
) -> Iterator[str]:
    """Yield a sentence for each override that cannot be applied to any report.

    An example is "overrides.csv: line 3 does not count: no submission is by ada".

    Args:
        overrides: every row of the course.
        reports: each with the names by which a row may call its author.
        course: the course, for the ids of its exercises.
    """
    known = [exercise.id for exercise in course.exercises]
    for one in overrides:
        own = [report for names, report in reports if one.author in names]
        why = one.problem(own[0]) if own else f"no submission is by {one.author}"
        if one.exercise not in known:
            why = f"there is no exercise {one.exercise}{suggestion(one.exercise, known)}"
        if why:
            yield f"{OVERRIDES}: line {one.row} does not count: {why}"
