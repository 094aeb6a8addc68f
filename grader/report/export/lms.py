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
from grader.model.score import join_names, pluralize, points_text
from grader.report.csv_table import CsvTable
from grader.report.moodle_worksheet import Worksheet, is_no, is_yes_no
from grader.report.numbers import parse_hundredths
from grader.report.people import People, Person

_POINTS_POSSIBLE = "points possible"
_READ_ONLY = "(read only)"
_EXCUSED = "EX"
_GRADE = "Grade"
_WITH_COMMA = re.compile(r"-?[\d.]+,\d+")

UNDECIDED = "undecided, left as it was"
LOCKED = "excused or locked on the platform, left as it was"
OVER = "has more points than Moodle's maximum grade, which was filled in"
UNKNOWN = "not in the file, or it could be several people's: enter it by hand"


@dataclass(frozen=True)
class ScoreColumn:
    """The scores of a hand-in.

    Attributes:
        title: the title of the column; "" for the one that is called as the platform calls it.
        possible: full marks, in hundredths of a point; of a sheet of extra credit all of its points.
        scores: hundredths of a point by author; None while they are undecided.
        is_bonus: True if all of it is extra credit: the platform may have 0 points for it.
        names: the names of people, by the numbers of authors.
        platform: the platform that gave these numbers; "" if unknown.
        source: a text for messages: the hand-in, and the folder of results.
    """

    title: str
    possible: int
    scores: Mapping[str, int | None]
    is_bonus: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    platform: str = ""
    source: str = "this hand-in"


@dataclass
class Filled:
    """The result of filling scores into a table: counts of cells, and the authors whom staff should look at.

    Attributes:
        scores: the number of cells that have a score now.
        replaced: the number of these that had another score before.
        absent: the number of people in the table who handed in nothing.
        again: True if the table was filled in after it was downloaded, and before now.
        named: the authors, by what is said of them.
    """

    scores: int = 0
    replaced: int = 0
    absent: int = 0
    again: bool = False
    named: dict[str, list[str]] = field(default_factory=lambda: {why: [] for why in (UNDECIDED, LOCKED, OVER, UNKNOWN)})

    def lines(self, place: str, names: Mapping[str, str], *, zeros: bool = False) -> Iterator[str]:
        """Yield sentences on the scores that were filled in, and on people without a score.

        The first one is like "12 scores filled in, 3 in place of another score: gradebook.csv".

        Args:
            place: the path of the file that was written.
            names: the names that are printed behind authors, by author.
            zeros: True if people who handed in nothing got 0.
        """
        replaced = f", {self.replaced} in place of another score" if self.replaced else ""
        yield f"{pluralize(self.scores, 'score')} filled in{replaced}: {place}"
        for why, authors in self.named.items():
            yield from (f"{author} {names.get(author, '')}".rstrip() + f": {why}" for author in authors)
        if self.absent:
            what = "which got 0" if zeros else "left as it was; --zeros fills in 0"
            yield f"Nothing handed in: {pluralize(self.absent, 'person')}, {what}."


def moodle_upload_notes(done: Filled) -> list[str]:
    """Return sentences about how to upload a filled worksheet to Moodle.

    Moodle skips no row of a worksheet that is uploaded like this.
    """
    lines = []
    if done.again:
        lines.append(
            "This worksheet was filled in before. If you uploaded it then, download it again and fill in that one: "
            "Moodle skips each row whose grade changed since the download."
        )
    lines.append(
        "Upload it to Moodle before feedback.zip. After feedback.zip all grades have a new time, and Moodle skips "
        "every row, unless you download the worksheet again, or tick that it may update records that were modified in "
        "Moodle since."
    )
    return lines


def fill_columns(
    table: CsvTable, kind: str, columns: Sequence[ScoreColumn], *, scales: bool = False, zeros: bool = False
) -> Filled:
    """Fill the scores of hand-ins into a table's columns, and return what was filled in.

    Args:
        table: the open file, which is changed in memory.
        kind: "canvas" or "moodle".
        columns: the scores of each hand-in.
        scales: True if scores are scaled, where the platform has another number of points.
        zeros: True if people without a submission get 0.

    Raises:
        CourseError: the file is not of this kind, lacks a column, has other points for it, or is of another assignment;
            or somebody who may have handed in would get 0.
    """
    for column in columns:
        if not count_authors_in(table, kind, column) and column.scores:
            what = "participant numbers" if kind == "moodle" and column.platform == kind else "people"
            raise CourseError(
                f"{table.path} does not belong to {column.source}: the two have none of their {what} in common; name "
                "the file of that assignment"
            )
    done = Filled()
    places = [(column, _column_index(table, kind, column.title)) for column in columns]
    for column, place in places:
        people = People(table, column.names, column.platform)
        _fill_column(table, people, column, place, done, scales=scales, zeros=zeros)
    return done


def count_authors_in(table: CsvTable, kind: str, column: ScoreColumn) -> int:
    """Return how many authors of a hand-in are in a table, to see if the two belong together.

    Args:
        table: the table of the platform.
        kind: the kind of the table: "canvas" or "moodle".
        column: the authors' scores.

    Raises:
        CourseError: the file is not of this kind.
    """
    people = People(table, column.names, column.platform)
    if people.kind != kind or (kind == "canvas" and "Section" not in table.header):
        expected = "Student, ID, Section" if kind == "canvas" else "Identifier, Full name, Grade"
        raise CourseError(f"{table.path} is not a {kind.title()} file: expected columns such as {expected}")
    return sum(people.person_of(author) is not None for author in column.scores)


def _column_index(table: CsvTable, kind: str, title: str) -> int:
    """Return the index of the column of a table that takes a hand-in's scores.

    Args:
        table: the table of the platform.
        kind: the kind of the table: "canvas" or "moodle".
        title: the title of the column; "" for the platform's own column of grades.

    Raises:
        CourseError: there is no such column, or several.
    """
    titles = [re.sub(r" \(\d+\)$", "", name) if kind == "canvas" else name for name in table.header]
    sheet = Worksheet.of(table) if kind == "moodle" else None
    if sheet and not title and sheet.grade is not None:
        return sheet.grade
    wanted = title or _GRADE
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


def _fill_column(
    table: CsvTable, people: People, column: ScoreColumn, place: int, done: Filled, *, scales: bool, zeros: bool
) -> None:
    """Fill the scores of one hand-in into its column, and add what was done to `done`.

    Args:
        table: the open file, which is changed in memory.
        people: the people in the table.
        column: the scores of the hand-in.
        place: the index of the column in the table.
        done: the result for all hand-ins, which is changed.
        scales: True if scores are scaled, where the platform has another number of points.
        zeros: True if people without a submission get 0.
    """
    owners = defaultdict[Person | None, list[str]](list)
    for author in column.scores:
        owners[people.person_of(author)].append(author)
    unknown = owners[None]
    if zeros and unknown:
        raise CourseError(
            f"--zeros: {join_names(unknown)} cannot be found in {table.path}, so a 0 might be for one of them"
        )
    done.named[UNKNOWN] += unknown
    maxima, changeable = _maximum_points(table, people, place), _changeable_column(table, people, place)
    cells = [table.cell(row, at) for row in range(1, len(table.rows)) for at in {place, maxima.column}]
    comma = any(map(_WITH_COMMA.fullmatch, cells))
    graded = people.worksheet.graded
    for person in people.persons:
        authors, most = owners[person], maxima.points[person.row]
        scores = {column.scores[author] for author in authors}
        done.absent += not authors
        before = table.cell(person.row, place)
        # Moodle writes when it changed a grade: a grade without that time was filled in elsewhere.
        done.again |= bool(before and graded is not None and table.cell(person.row, graded) in ("", "-"))
        if len(scores) > 1:  # of several submissions staff must choose
            done.named[UNKNOWN] += authors
            continue
        score = scores.pop() if scores else 0
        locked = (
            before.upper() == _EXCUSED if people.kind == "canvas" else is_no(_cell_text(table, person.row, changeable))
        )
        if locked:
            done.named[LOCKED] += authors
        elif score is None:
            done.named[UNDECIDED] += authors
        elif authors or zeros:
            points = _scale_score(table, column, score, most, scales=scales)
            if people.kind == "moodle" and most is not None and points > most:  # Moodle would leave out the row
                points = most
                done.named[OVER] += authors
            text, earlier = points_text(points), parse_hundredths(before)
            done.scores += 1
            done.replaced += earlier is not None and earlier != points
            table.put(person.row, place, text.replace(".", ",") if comma else text)


def _scale_score(table: CsvTable, column: ScoreColumn, score: int, most: int | None, *, scales: bool) -> int:
    """Convert a score to the platform's points, if the platform has another maximum.

    With 10 points in the course and 20 on the platform, 800 hundredths become 1600.

    Args:
        table: the table, which an error names.
        column: the scores of the hand-in.
        score: the score, in hundredths of the course's points.
        most: the maximum of the column on the platform, in hundredths; None if not known.
        scales: True if the score is scaled, where the platform has another maximum than the course.

    Raises:
        CourseError: the platform has another maximum, and `scales` is False.
    """
    if most is None or most == column.possible or (column.is_bonus and not most):
        return score
    if not scales:
        ours, theirs = points_text(column.possible), points_text(most)
        raise CourseError(
            f"{table.path}: {column.title or 'the hand-in'} is worth {ours} points here and {theirs} on the "
            f"platform; set {ours} points there, or add --scale"
        )
    return (2 * score * most + column.possible) // (2 * column.possible)


@dataclass(frozen=True)
class _Maxima:
    """The maximum of a column on the platform, in hundredths, by the row of a person, and the column that states it."""

    column: int
    points: Mapping[int, int | None]


def _maximum_points(table: CsvTable, people: People, place: int) -> _Maxima:
    """Return the maximum points of each person in the column of a hand-in's scores.

    The result also has the index of the column that states the maximum.

    Args:
        table: the table of the platform.
        people: the people in the table.
        place: the index of the column of the scores.

    Raises:
        CourseError: the column is read only, or its maximum cannot be read.
    """
    rows = [person.row for person in people.persons]
    if people.kind == "canvas":
        lines = [line for line in range(1, len(table.rows)) if _POINTS_POSSIBLE in table.cell(line, 0).casefold()]
        text = table.cell(lines[0], place) if lines else ""
        if _READ_ONLY in text:
            raise CourseError(f"{table.path}: Canvas ignores the column {table.header[place]}, which is read only")
        most = _parse_points(table, place, text) if text else None
        return _Maxima(place, dict.fromkeys(rows, most))
    # Moodle writes the maximum behind the grade; for a scale, the words that it consists of.
    at = people.worksheet.maximum
    if at is None and people.worksheet.grade is None:
        at = place + 1 if place + 1 < len(table.header) else None
    if at is None or at != place + 1:
        return _Maxima(place, dict.fromkeys(rows, None))
    return _Maxima(at, {row: _parse_points(table, at, table.cell(row, at)) for row in rows})


def _parse_points(table: CsvTable, at: int, text: str) -> int:
    most = parse_hundredths(text)
    if most is None:
        raise CourseError(
            f"{table.path}: the column {table.header[at]} says {text!r}, which is not a number of points; give it "
            "points on the platform and no scale, then export the file again"
        )
    return most


def _changeable_column(table: CsvTable, people: People, place: int) -> int | None:
    """Return the index of the column in which Moodle states whether a grade can be changed.

    Return None if the table does not state this.

    Args:
        table: the table of the platform.
        people: the people in the table.
        place: the index of the column of the scores, which makes no difference.

    Raises:
        CourseError: the column is in a language that is not known here.
    """
    sheet = people.worksheet
    if people.kind != "moodle" or sheet.maximum is None:
        return None
    if sheet.changeable is not None:
        cells = [table.cell(person.row, sheet.changeable) for person in people.persons]
        if is_yes_no(cells):
            return sheet.changeable
    elif sheet.maximum + 1 >= len(table.header) or table.header[0].casefold() == "identifier":
        return None
    title = table.header[sheet.changeable or sheet.maximum + 1]
    raise CourseError(
        f"{table.path}: whether a grade can be changed cannot be read in the column {title}; download it once "
        "more with English as your language in Moodle"
    )


def _cell_text(table: CsvTable, row: int, at: int | None) -> str:
    return "" if at is None else table.cell(row, at)
