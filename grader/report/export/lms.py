"""Final scores in the gradebook of Canvas or the grading worksheet of Moodle that somebody downloaded.

Only cells of the hand-in's column change, and only those of people whose score is decided. Every other byte stays.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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


@dataclass
class Filled:
    """What was done with a table; authors are named where nothing was.

    Attributes:
        scores: how many cells have a score now.
        replaced: how many of these had another score before.
        absent: how many people in the table handed in nothing.
        named: by what is to be said of them, the authors.
    """

    scores: int = 0
    replaced: int = 0
    absent: int = 0
    named: dict[str, list[str]] = field(default_factory=lambda: {why: [] for why in (UNDECIDED, LOCKED, OVER, UNKNOWN)})

    def lines(self, place: str, *, zeros: bool = False) -> Iterator[str]:
        """Sentences for people: what was filled in where, and of whom no score was, or another one.

        Args:
            place: the file that was written.
            zeros: whether people who handed in nothing got 0.
        """
        replaced = f", {self.replaced} in place of another score" if self.replaced else ""
        yield f"{counted(self.scores, 'score')} filled in{replaced}: {place}"
        yield from (f"{name}: {why}" for why, names in self.named.items() for name in names)
        if self.absent:
            what = "which got 0" if zeros else "left as it was; --zeros fills in 0"
            yield f"Nothing handed in: {counted(self.absent, 'person')}, {what}."


def fill(table: Table, kind: str, columns: Sequence[Column], *, scales: bool = False, zeros: bool = False) -> Filled:
    """Fill in the columns of hand-ins.

    Args:
        table: the open file, which is changed in memory.
        kind: "canvas" or "moodle".
        columns: the scores of each hand-in.
        scales: whether scores are scaled, where the platform has another number of points.
        zeros: whether people without a submission get 0.

    Raises:
        CourseError: the file is not of this kind, lacks a column, has other points for it, or would give 0 to somebody
            who may have handed in.
    """
    people = People(table)
    if people.kind != kind:
        expected = "Student, ID, Section" if kind == "canvas" else "Identifier, Full name, Grade"
        raise CourseError(f"{table.path} is not a {kind.title()} file: expected columns such as {expected}")
    done = Filled()
    for column, place in [(column, _place(table, kind, column.title)) for column in columns]:
        _fill(table, kind, people, column, place, done, scales=scales, zeros=zeros)
    return done


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


def _fill(
    table: Table, kind: str, people: People, column: Column, place: int, done: Filled, *, scales: bool, zeros: bool
) -> None:
    """Fill in one column, and note who has no score of it."""
    owners = defaultdict[Person | None, list[str]](list)
    for author in column.scores:
        owners[people.person_of(author)].append(author)
    unknown = owners[None]
    if zeros and unknown:
        raise CourseError(
            f"--zeros: {', '.join(unknown)} cannot be found in {table.path}, so a 0 might be for one who handed in"
        )
    done.named[UNKNOWN] += unknown
    comma = any(_WITH_COMMA.fullmatch(table.cell(row, place)) for row in range(1, len(table.rows)))
    for person in people.persons:
        authors, most = owners[person], _maximum(table, kind, person.row, place)
        scores = {column.scores[author] for author in authors}
        done.absent += not authors
        if len(scores) > 1:  # of several submissions staff must choose
            done.named[UNKNOWN] += authors
            continue
        score = scores.pop() if scores else 0
        if _is_locked(table, kind, person.row, place):
            done.named[LOCKED] += authors
        elif score is None:
            done.named[UNDECIDED] += authors
        elif authors or zeros:
            points = _scaled(table, column, score, most, scales=scales)
            if kind == "moodle" and most is not None and points > most:  # Moodle would leave out the row
                points = most
                done.named[OVER] += authors
            text, before = points_text(points), table.cell(person.row, place)
            done.scores += 1
            done.replaced += bool(_NUMBER.fullmatch(before)) and float(before.replace(",", ".")) != float(text)
            table.put(person.row, place, text.replace(".", ",") if comma else text)


def _scaled(table: Table, column: Column, score: int, most: int | None, *, scales: bool) -> int:
    """A score in the points that the platform has for the column.

    Raises:
        CourseError: they differ from the hand-in's, and scores are not to be scaled.
    """
    if most is None or most == column.possible:
        return score
    if not scales:
        ours, theirs = points_text(column.possible), points_text(most)
        raise CourseError(
            f"{table.path}: {column.title or 'the hand-in'} has {ours} points here and {theirs} there; set {ours} "
            "points on the platform, or add --scale"
        )
    return (2 * score * most + column.possible) // (2 * column.possible)


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
