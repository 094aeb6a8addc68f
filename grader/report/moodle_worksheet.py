"""The columns of Moodle's grading worksheet, whose titles are in its language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.report.csv_table import CsvTable
from grader.report.numbers import parse_hundredths

FEW_COLUMNS = 4
"""A worksheet has more of them."""
_STATUS, _TEAM, _GRADE, _MAXIMA = "status", "group", "grade", ("maximum grade", "scale")
_CHANGEABLE, _HANDED_IN, _GRADED = "grade can be changed", "last modified (submission)", "last modified (grade)"

_YES_NO = (
    *(("yes", "no"), ("ja", "nein"), ("oui", "non"), ("sí", "no"), ("sì", "no"), ("ja", "nee"), ("sim", "não")),
    *(("tak", "nie"), ("ja", "nej"), ("kyllä", "ei"), ("ano", "ne"), ("igen", "nem"), ("да", "нет")),
    *(("はい", "いいえ"), ("是", "否")),
)
"""Whether a grade can be changed, in languages of Moodle."""


@dataclass(frozen=True)
class Worksheet:
    """The columns of Moodle's grading worksheet, whose titles are in its language.

    Attributes:
        identity: the number of columns that say who it is: the participant, the name, an address.
        teams: columns that may have the name of a team. In other languages than English this may also be the status,
            or who marks.
        of_teams: True if one column is that of teams for sure. Moodle writes it only where teams hand in.
        grade: the points.
        maximum: the most points, or the words of a scale; behind it the other columns of the grade stand.
        changeable: the column that says if the grade can be changed, or None.
        submitted: the time when something was handed in, or None.
        graded: the time when the grade was changed last, or None.
    """

    identity: int
    teams: Sequence[int] = ()
    grade: int | None = None
    maximum: int | None = None
    changeable: int | None = None
    submitted: int | None = None
    graded: int | None = None
    of_teams: bool = False

    @classmethod
    def of(cls, table: CsvTable) -> Worksheet:
        """Find the columns of Moodle's grading worksheet, such as that of the grade.

        English titles name them. In other languages, their contents and Moodle's order of columns do.
        """
        titles = [title.casefold() for title in table.header]
        place = {title: at for at, title in enumerate(titles)}
        if titles[0] == "identifier":
            status, grade = place.get(_STATUS), place.get(_GRADE)
            ends = [at for at in (status, grade) if at is not None]
            maximum = next((place[title] for title in _MAXIMA if title in place), None)
            teams = [at for at in (place.get(_TEAM),) if at is not None and at in range((status or 0) + 1, grade or 0)]
            changeable, submitted, graded = (place.get(name) for name in (_CHANGEABLE, _HANDED_IN, _GRADED))
            identity = min(ends, default=len(titles))
            return cls(identity, teams, grade, maximum, changeable, submitted, graded, of_teams=bool(teams))
        rows = range(1, len(table.rows))
        columns = [[table.cell(row, at) for row in rows] for at in range(len(titles))]
        maxima = [at for at in range(2, len(titles)) if _is_max_grade_column(columns[at], columns[at - 1])]
        if len(maxima) != 1:
            return cls(min(len(titles), FEW_COLUMNS - 1))
        (maximum,) = maxima
        later = range(maximum + 1, min(maximum + 3, len(titles)))  # the state of a workflow may stand between
        changeable = next((at for at in later if is_yes_no(columns[at])), maximum)
        times = [at for at in (changeable + 1, changeable + 2) if at < len(titles) and all(map(_is_time, columns[at]))]
        changes = changeable if changeable != maximum else None
        submitted, graded = [*times, None, None][:2]
        return cls(maximum - 1, range(2, maximum - 1), maximum - 1, maximum, changes, submitted, graded)


def is_yes_no(cells: Iterable[str]) -> bool:
    """Return whether each cell is the word for yes or the word for no, in one language.

    `["Ja", "nein"]` returns True. In such a column, Moodle states whether a grade can be changed.
    """
    words = {cell.casefold() for cell in cells}
    return any(words <= set(pair) for pair in _YES_NO)


def is_no(cell: str) -> bool:
    """Return whether a cell has the word for no, in any of the languages of `is_yes_no`."""
    return cell.casefold() in {no for _, no in _YES_NO}


def _is_time(cell: str) -> bool:
    return cell in ("", "-") or any(map(str.isdecimal, cell))


def _is_max_grade_column(cells: Sequence[str], grades: Sequence[str]) -> bool:
    """Return whether a column may have Moodle's maximum grade.

    It may if all of its cells have the same number, and no grade exceeds that number.

    Args:
        cells: the cells of the column.
        grades: the cells of the column before it, which may have the grades.
    """
    most = parse_hundredths(cells[0]) if len(set(cells)) == 1 else None
    scores = [parse_hundredths(cell) if cell not in ("", "-") else 0 for cell in grades]
    return most is not None and most > 0 and all(score is not None and 0 <= score <= most for score in scores)
