"""Who is in a table that another program wrote: Canvas's gradebook, a Moodle grading worksheet.

A table may also be made by hand. A submission is named by its platform, and a row has a number, a name, a login. The
number that a platform gives is an identity: it finds its row under any name, as the name before it may be a
group's, or may have changed. Where there is no number, a row is found only if exactly one fits.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from grader.model.errors import CourseError
from grader.report.csv_table import CsvTable
from grader.report.moodle_worksheet import FEW_COLUMNS, Worksheet, is_yes_no
from grader.report.names import fold_name, letters_and_digits

_TEST_STUDENT = "Student, Test"
"""Canvas has a student of this name in each course, who is nobody."""

_NUMBERED = re.compile(r"(.*)_(\d+)")
"""How Canvas and Moodle name a submission: somebody's name, and a number."""

_PARTICIPANT = re.compile(r"(\D+?)\s*(\d+)")
_GROUPS = ("canvas_user_id", "group_name")
"""Columns of the table that Canvas exports below People, Groups."""
_TIMES = ("%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M", "%A, %B %d, %Y, %I:%M %p", "%d %B %Y, %I:%M %p")
"""How Moodle writes a time, if its language is English."""


@dataclass(frozen=True)
class Person:
    """A person in a table, such as a roster.

    Attributes:
        row: its place there.
        author: the name that this person's submission would have: a platform's is a number.
        uid: an identifier that is the same in the tables of several hand-ins, as Moodle numbers people anew in each.
        keys: the texts that can stand for the person: its cells, and other spellings of its name.
        names: the keys that are the person's name.
        at: the time when the person handed in, in ISO 8601; "" if the table does not say it.
    """

    row: int
    author: str
    uid: str
    keys: frozenset[str]
    names: frozenset[str]
    at: str = ""

    @cached_property
    def compact_keys(self) -> frozenset[str]:
        """Return the keys of this person without blanks and signs, as `lovelaceada`.

        Platforms leave out these characters when they write a name into a file name.
        """
        return frozenset(filter(None, map(letters_and_digits, self.keys)))

    def is_called(self, name: str) -> bool:
        """Return whether a name that a platform wrote into a file name is this person's.

        For "Lovelace, Ada", this is True of `lovelaceada` and `adalovelace`.
        """
        return letters_and_digits(name) in map(letters_and_digits, self.names)


class People:
    """The people in a table, such as a roster; finds the one who made a submission.

    Args:
        table: the open file; None for nobody.
        given: the names that the platform put before the numbers of submissions, by number.
        platform: the platform that gave submissions their numbers: "canvas", "moodle", or "" if unknown.

    Attributes:
        kind: "canvas", "moodle" or "plain".
        persons: the persons, in the order of the table.
        unread: times that cannot be read.
        worksheet: the columns of Moodle's worksheet.
    """

    def __init__(self, table: CsvTable | None, given: Mapping[str, str] | None = None, platform: str = "") -> None:
        self.kind = _kind_of_table(table) if table else "plain"
        self.unread: list[str] = []
        self._given, self._platform = given or {}, platform
        self._rows = table.rows if table else []
        self._titles = table.header if table else []
        self.worksheet = Worksheet.of(table) if table and self.kind == "moodle" else Worksheet(0)
        readers = {"canvas": self._read_canvas_row, "moodle": self._read_moodle_row, "plain": self._read_plain_row}
        persons = [readers[self.kind](table, row) for row in range(1, len(self._rows))] if table else []
        self.persons = [person for person in persons if person is not None]
        self._by_key = _map_unique_keys((key, person) for person in self.persons for key in person.keys)
        self._by_compact_key = _map_unique_keys((key, person) for person in self.persons for key in person.compact_keys)
        self._by_uid = _map_unique_keys((person.uid, person) for person in self.persons)
        self._by_number = _map_unique_keys(
            (number, person) for person in self.persons for number in self._author_numbers_of(person)
        )

    def person_of(self, author: str) -> Person | None:
        """Return the person whom a submission's author name, such as "512" or "ada", means.

        Return None unless exactly one person fits.
        """
        if author.isdecimal() and (self.kind == "plain" or self._platform in ("", self.kind)):
            if person := self._by_number.get(author):
                return person
            if self.kind != "plain":
                return None  # the platform's number is on no row, and a name alone may be somebody else's
        # Of another platform's number the name alone can say whose it is here.
        is_given = author in self._given
        author = f"{self._given[author]}_{author}" if is_given else author
        if person := self._by_key.get(fold_name(author)):
            return person
        name, number = numbered.groups() if (numbered := _NUMBERED.fullmatch(author)) else (author, "")
        person = None if self._is_foreign() else (self._by_key if self.kind == "plain" else self._by_number).get(number)
        # A number alone may be anything's; with the name, it is the platform's.
        # Moodle's older versions write somebody's team before their name.
        if person and letters_and_digits(name).endswith(tuple(person.compact_keys)):
            return person
        name = name if is_given else author  # ada_1 is somebody else than ada, unless a platform put the number there
        return self._by_key.get(fold_name(name)) or self._by_compact_key.get(letters_and_digits(name))

    def _is_foreign(self) -> bool:
        """Return True if one platform wrote the table, and another one numbered the submissions."""
        return self.kind != "plain" and self._platform not in ("", self.kind)

    def _author_numbers_of(self, person: Person) -> Iterator[str]:
        """Yield the numbers that may stand for a person in the author name of a submission.

        In a table of Canvas or Moodle, that is the platform's number. In a list of one's own, it is each number in the
        first column, or in a column whose title says that it has ids.
        """
        if self.kind != "plain":
            yield person.author
            return
        cells = self._rows[person.row]
        for at, (title, cell) in enumerate(zip(self._titles, cells, strict=False)):
            if cell.strip().isdecimal() and (at == 0 or title.casefold() in _NUMBER_TITLES):
                yield cell.strip()

    def team_members(self, name: str, number: str) -> list[Person]:
        """Return the members of the team that handed in a submission.

        The list is empty if one person handed it in, or if no column has names of teams.

        Args:
            name: the name that the platform wrote before the number: a team's or a person's. It does not show which.
            number: the number of the submission. On Canvas it is a member's; on Moodle it is the team's own.
        """
        wanted, rows, own = letters_and_digits(name), self._rows, self._by_number.get(number)
        teams = self._team_columns()
        members = [
            person
            for person in self.persons
            if any(letters_and_digits(rows[person.row][at]) == wanted for at in teams if at < len(rows[person.row]))
        ]
        if own is None or (self._platform == self.kind == "moodle" and self.worksheet.of_teams):
            return members
        if self._platform == "moodle":
            return [] if own.is_called(name) else members
        return members if own in members else []

    def authors_named_differently(self, authors: Iterable[str]) -> list[str]:
        """Return the authors of Canvas submissions who have another name on the roster.

        The name in the submission may be a group's, as Canvas writes the number of one member after it. The list is
        empty if the roster has a column of groups, or is not Canvas's.
        """
        if self._platform != "canvas" or self.kind != "canvas" or self._team_columns():
            return []
        own = {author: self._by_number.get(author) for author in authors if author in self._given}
        return [who for who, person in own.items() if person and not person.is_called(self._given[who])]

    def _team_columns(self) -> Sequence[int]:
        """Return the indices of the columns that may contain names of teams.

        Moodle's layout says which they are; in other tables, the titles do.
        """
        if self.kind == "moodle":
            return self.worksheet.teams
        return [at for at, title in enumerate(self._titles) if title.casefold() in _GROUP_TITLES]

    def names_of(self, person: Person) -> frozenset[str]:
        """Return the texts that stand for this person and for nobody else.

        An example is `{"lovelace, ada", "ada lovelace", "512"}`. They are folded for comparison; see `fold_name`.
        """
        return frozenset(key for key in person.keys if key in self._by_key) | {fold_name(person.author)}

    def uid_of(self, author: str) -> str:
        """Return what identifies a submission's author in all hand-ins of a term.

        An example is the e-mail address on a Moodle worksheet. Return the author name itself if it means nobody in the
        table. See `unique_uid`.
        """
        person = self.person_of(author)
        return self.unique_uid(person) if person else author

    def unique_uid(self, person: Person) -> str:
        """Return what identifies a person in all hand-ins of a term, to add up the scores.

        This is `uid`. If several people in the table have the same `uid`, it is the author name instead.
        """
        return person.uid if person.uid in self._by_uid else person.author

    def _read_canvas_row(self, table: CsvTable, row: int) -> Person | None:
        header = table.header
        if set(_GROUPS) <= set(header):
            number, name = table.cell(row, header.index(_GROUPS[0])), table.cell(row, 0)
            cells = [table.cell(row, at) for at in range(header.index(_GROUPS[1])) if header[at] != "sections"]
            return Person(row, number, number, _lookup_keys(name, cells), _lookup_keys(name, ())) if number else None
        place = header.index("ID")
        name, number = ", ".join(filter(None, (table.cell(row, at) for at in range(place)))), table.cell(row, place)
        if not number or name == _TEST_STUDENT:  # lines about the columns have no number
            return None
        cells = [table.cell(row, column) for column in range(place, header.index("Section"))]
        return Person(row, number, number, _lookup_keys(name, [name, *cells]), _lookup_keys(name, ()))

    def _read_moodle_row(self, table: CsvTable, row: int) -> Person | None:
        participant = _PARTICIPANT.fullmatch(table.cell(row, 0))
        if participant is None:
            return None
        sheet = self.worksheet
        blind = sheet.identity == 1
        name = participant[1] if blind else table.cell(row, 1)
        at = self._parse_time(table.cell(row, sheet.submitted)) if sheet.submitted is not None else ""
        cells = [table.cell(row, column) for column in range(sheet.identity)]
        number = participant[2]
        uid = number if blind else next((cell for cell in cells if "@" in cell), name)
        return Person(row, number, uid, _lookup_keys(name, [*cells, participant[1]]), _lookup_keys(name, ()), at)

    def _read_plain_row(self, table: CsvTable, row: int) -> Person | None:
        cells = [cell.strip() for cell in table.rows[row]]
        if not cells[0]:
            return None
        # First and last name may be two columns.
        both = [name for one, other in pairwise(cells) for name in (f"{one} {other}", f"{other} {one}")]
        keys = _lookup_keys("", [*cells, *both])
        return Person(row, cells[0], cells[0], keys, keys)

    def _parse_time(self, text: str) -> str:
        if not text or text == "-":
            return ""
        for form in _TIMES:
            with suppress(ValueError):
                return datetime.strptime(text, form).isoformat()
        self.unread.append(text)
        return ""


_NUMBER_TITLES = ("id", "identifier", "user id", "canvas id", "canvas user id", "canvas_user_id", "participant")
_GROUP_TITLES = ("group", "group name", "group_name", "team", "gruppe", "groupe", "grupo", "gruppo", "groep")


def people_in(path: Path, given: Mapping[str, str] | None = None, platform: str = "") -> People:
    """Read the people in a table, such as a class list of Canvas or Moodle; see `People`.

    Args:
        path: the path of the file.
        given: the name that the platform wrote before the number of each submission, by that number:
            `{"512": "lovelaceada"}`.
        platform: the platform that gave submissions their numbers: "canvas", "moodle", or "" if unknown.

    Raises:
        CourseError: the table cannot be read, or has nobody in it.
    """
    people = People(CsvTable(path), given, platform)
    if not people.persons:
        raise CourseError(f"{path} has no row for a person; expected a line with titles, then a line for each person")
    return people


def _kind_of_table(table: CsvTable) -> str:
    """Return the kind of a table: "canvas", "moodle", or "plain" for a list of one's own."""
    header = table.header
    split = header[0] == "LastName" and header[1:2] == ["FirstName"]
    is_gradebook = ("Student" in header[0] or split) and {"ID", "Section"} <= set(header)
    if is_gradebook or set(_GROUPS) <= set(header):
        return "canvas"
    firsts = [_PARTICIPANT.fullmatch(row[0].strip()) for row in table.rows[1:]]
    # In another language the titles differ, and so does the word before the number; it is the same in all rows.
    alike = len({first[1] if first else "" for first in firsts}) == 1 and all(firsts)
    if header[0] == "Identifier":
        return "moodle"
    # A list of one's own may have s101, s102 and five columns; it has no maximum, and says nothing of changes.
    columns = [[table.cell(row, at) for row in range(1, len(table.rows))] for at in range(len(header))]
    is_graded = Worksheet.of(table).maximum is not None or any(map(is_yes_no, columns))
    return "moodle" if alike and len(header) > FEW_COLUMNS and is_graded else "plain"


def _lookup_keys(name: str, cells: Iterable[str]) -> frozenset[str]:
    last, comma, first = name.partition(",")
    swapped = f"{first.strip()} {last.strip()}" if comma else ""
    return frozenset(fold_name(text) for text in (name, swapped, *cells) if text.strip())


def _map_unique_keys(pairs: Iterable[tuple[str, Person]]) -> Mapping[str, Person]:
    """Return a dict from each key to its person, without the keys that several people have.

    If "bo" is paired with two people, and "ada" with one, the dict has "ada" alone.
    """
    meant = defaultdict[str, set[Person]](set)
    for key, person in pairs:
        meant[key].add(person)
    return {key: next(iter(persons)) for key, persons in meant.items() if key and len(persons) == 1}


def absent_people(people: People, authors: Iterable[str]) -> Iterator[Person]:
    """Yield the people on the roster who handed in nothing: they are not among these authors."""
    there = {person for author in authors if (person := people.person_of(author))}
    return (person for person in people.persons if person not in there)


NOBODY = People(None)
