"""Final scores in the gradebook of Canvas or the grading worksheet of Moodle that somebody downloaded.

Only cells of the hand-in's column change, and only those of people whose score is decided.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.course.files import suggestion
from grader.model.errors import CourseError
from grader.model.score import counted, points_text
from grader.report.people import People, Person, Table

_POINTS_POSSIBLE = "points possible"
_READ_ONLY = "(read only)"
_EXCUSED = "EX"
_GRADE, _MAXIMUM, _CHANGEABLE = "grade", "maximum grade", "grade can be changed"
_WITH_COMMA = re.compile(r"-?\d+,\d+")
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")


UNDECIDED = "undecided, left as it was"
LOCKED = "excused or locked on the platform, left as it was"
OVER = "has more points than Moodle's maximum grade, which was filled in"
UNKNOWN = "not in the file, or it could be several people's: enter it by hand"
ABSENT = "Nothing handed in"


@dataclass(frozen=True)
class Column:
    """The scores of a hand-in.

    Attributes:
        title: of its column; "" for the one that is called as the platform calls it.
        possible: full marks, in hundredths of a point.
        scores: hundredths of a point by author; None while they are undecided.
    """

    title: str
    possible: int
    scores: Mapping[str, int | None]


def fill(table: Table, kind: str, columns: Sequence[Column]) -> tuple[int, list[str]]:
    """Fill in the columns of hand-ins.

    Args:
        table: the open file, which is changed in memory.
        kind: "canvas" or "moodle".
        columns: the scores of each hand-in.

    Returns:
        how many cells have a score now, and a sentence for each author of whom none has, or another one.

    Raises:
        CourseError: the file is not of this kind, lacks a column, or has other points for it.
    """
    people = People(table)
    if people.kind != kind:
        expected = "Student, ID, Section" if kind == "canvas" else "Identifier, Full name, Grade"
        raise CourseError(f"{table.path} is not a {kind.title()} file: expected columns such as {expected}")
    named: dict[str, list[str]] = {why: [] for why in (UNDECIDED, LOCKED, OVER, UNKNOWN, ABSENT)}
    places = [_place(table, kind, column.title) for column in columns]
    count = sum(_fill(table, kind, people, *pair, named) for pair in zip(columns, places, strict=True))
    absent = len(named.pop(ABSENT))
    lines = [f"{name}: {why}" for why, names in named.items() for name in names]
    return count, [*lines, f"{ABSENT}: {counted(absent, 'person')}, left as it was."] if absent else lines


def _place(table: Table, kind: str, title: str) -> int:
    """Where a column stands."""
    titles = [re.sub(r" \(\d+\)$", "", name) if kind == "canvas" else name for name in table.header]
    wanted = title or _GRADE.title()
    for names in (table.header, titles):
        same = [place for place, name in enumerate(names) if name.casefold() == wanted.casefold()]
        if len(same) == 1:
            return same[0]
        if same:
            raise CourseError(
                f"{table.path} has {len(same)} columns {wanted}; name one with its number: --column 'TITLE (NUMBER)'"
            )
    hint = suggestion(wanted, titles[1:])
    remedy = "name it with --column, or as  column  of the hand-in in course.yaml"
    raise CourseError(f"{table.path} has no column {wanted}: {remedy}{hint}")


def _fill(table: Table, kind: str, people: People, column: Column, place: int, named: dict[str, list[str]]) -> int:
    """Fill in one column, and note who has no score of it; how many have one."""
    owners = defaultdict[Person | None, list[str]](list)
    for author in column.scores:
        owners[people.person_of(author)].append(author)
    named[UNKNOWN] += owners[None]
    count = 0
    comma = any(_WITH_COMMA.fullmatch(table.cell(row, place)) for row in range(1, len(table.rows)))
    for person in people.persons:
        authors, most = owners[person], _maximum(table, kind, person.row, place)
        scores = {column.scores[author] for author in authors}
        if not scores:
            named[ABSENT].append(person.author)
        elif most not in (None, column.possible):
            ours, theirs = points_text(column.possible), points_text(most or 0)
            raise CourseError(
                f"{table.path}: {column.title or 'the hand-in'} has {ours} points here and {theirs} there; set {ours} "
                "points on the platform"
            )
        elif len(scores) > 1:  # of several submissions staff must choose
            named[UNKNOWN] += authors
        elif _is_locked(table, kind, person.row, place):
            named[LOCKED] += authors
        elif (score := scores.pop()) is None:
            named[UNDECIDED] += authors
        else:
            if kind == "moodle" and most is not None and score > most:  # Moodle would leave out the row
                score = most
                named[OVER] += authors
            text = points_text(score)
            count += 1
            table.put(person.row, place, text.replace(".", ",") if comma else text)
    return count


def _maximum(table: Table, kind: str, row: int, place: int) -> int | None:
    """The points of a column, in hundredths, as the platform has them."""
    if kind == "canvas":
        lines = [line for line in range(1, len(table.rows)) if _POINTS_POSSIBLE in table.cell(line, 0).casefold()]
        text = table.cell(lines[0], place) if lines else ""
        if _READ_ONLY in text:
            raise CourseError(f"{table.path}: Canvas ignores the column {table.header[place]}, which is read only")
    else:
        text = _beside(table, row, _MAXIMUM)
    return round(float(text.replace(",", ".")) * 100) if _NUMBER.fullmatch(text) else None


def _is_locked(table: Table, kind: str, row: int, place: int) -> bool:
    if kind == "canvas":
        return table.cell(row, place).upper() == _EXCUSED
    return _beside(table, row, _CHANGEABLE).casefold() == "no"


def _beside(table: Table, row: int, title: str) -> str:
    """What stands in the column of a title, if there is one."""
    return next((table.cell(row, at) for at, name in enumerate(table.header) if name.casefold() == title), "")
