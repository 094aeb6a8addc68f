"""Tables that other programs wrote, and who is in them: Canvas's gradebook, a Moodle grading worksheet.

A table may also be made by hand. A submission is named by its platform, and a row has a number, a name, a login. A row
is found only if exactly one fits: of two students of one name, the number decides, or nothing does.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from grader.model.errors import CourseError
from grader.model.files import failing_as

_DELIMITERS = ",;\t"

_TEST_STUDENT = "Student, Test"
"""Canvas has a student of this name in each course, who is nobody."""

_NUMBERED = re.compile(r"(.*)_(\d+)")
"""How Canvas and Moodle name a submission: somebody's name, and a number."""

_PARTICIPANT = re.compile(r"(\D+?)\s*(\d+)")
_MOODLES_FIRST, _FEW = 4, 4
_HANDED_IN = "last modified (submission)"
_TIMES = ("%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M", "%A, %B %d, %Y, %I:%M %p", "%d %B %Y, %I:%M %p")
"""How Moodle writes a time, if its language is English."""


class Table:
    """A CSV file that another program wrote: cells are read and replaced, and every other byte stays as it is.

    Args:
        path: of the file.

    Attributes:
        rows: the cells of each line as they are read, the header first; lines without any text are left out.
        lines: the number of the line in the file where each of these rows begins.

    Raises:
        CourseError: the file cannot be read, or is not CSV.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        text, self._encoding = _text_of(path)
        titles = re.sub('"[^"]*"', "", next(iter(text.splitlines()), ""))
        self._delimiter = max(_DELIMITERS, key=titles.count)
        self._texts: list[str] = []
        """Each row as it is written, with its end; those without any text as well."""
        self._places: list[int] = []
        """Where in these each of `rows` stands."""
        self.rows: list[list[str]] = []
        self.lines: list[int] = []
        consumed: list[str] = []

        def lines() -> Iterator[str]:
            for line in io.StringIO(text, newline=""):
                consumed.append(line)
                yield line

        # Strict, since a quote that is never closed would take all further rows into its cell.
        reader = csv.reader(lines(), delimiter=self._delimiter, strict=True)
        line = 1
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    self._places.append(len(self._texts))
                    self.rows.append(cells)
                    self.lines.append(line)
                self._texts.append("".join(consumed))
                consumed.clear()
                line = reader.line_num + 1
        except csv.Error as error:
            raise CourseError(f"{path}: line {line} is not CSV ({error}); export the file again") from None
        if not self.rows:
            raise CourseError(f"{path} is empty; download or export it again")

    @property
    def header(self) -> list[str]:
        """The titles of the columns."""
        return [title.strip() for title in self.rows[0]]

    def cell(self, row: int, column: int) -> str:
        """What stands in a cell; "" where the line is too short."""
        cells = self.rows[row]
        return cells[column].strip() if column < len(cells) else ""

    def put(self, row: int, column: int, text: str) -> None:
        """Put a number of ours into a cell; the others of its row keep their quotes."""
        place, cells = self._places[row], self.rows[row]
        written = self._texts[place].rstrip("\r\n")
        end = self._texts[place][len(written) :]
        parts = _as_written(written, self._delimiter)
        missing = [""] * (column + 1 - len(cells))  # a line that ends before its last columns
        cells += missing
        parts += missing
        cells[column] = text
        parts[column] = f'"{text}"' if self._delimiter in text else text
        self._texts[place] = self._delimiter.join(parts) + end

    def remove(self, rows: Collection[int]) -> None:
        """Take out lines; after that, `put` and `cell` must not be used until the file is read again."""
        for row in rows:
            self._texts[self._places[row]] = ""

    def content(self) -> bytes:
        """The whole file."""
        return "".join(self._texts).encode(self._encoding)


def _as_written(row: str, delimiter: str) -> list[str]:
    """The cells of a row of CSV with their quotes, as they stand between delimiters."""
    cells, inside = [""], False
    for char in row:
        if char == delimiter and not inside:
            cells.append("")
        else:
            # A doubled quote closes and opens again.
            inside ^= char == '"' and (inside or not cells[-1] or cells[-1].startswith('"'))
            cells[-1] += char
    return cells


def _text_of(path: Path) -> tuple[str, str]:
    """The text of a file, and the encoding by which it is written again."""
    with failing_as(f"{path} cannot be read", "name another file"):
        data = path.read_bytes()
    if b"\0" in data:
        raise CourseError(f"{path} is not CSV in UTF-8; save it as  CSV UTF-8  (comma delimited)")
    encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"  # each byte is a character, and comes back as it was


@dataclass(frozen=True)
class Person:
    """A row of the table.

    Attributes:
        row: its place there.
        author: the name that this person's submission would have: a platform's is a number.
        uid: what is the same in the tables of several hand-ins, as Moodle numbers people anew in each.
        keys: what can stand for the person: its cells, and other spellings of its name.
        at: when the person handed in, in ISO 8601; "" if the table does not say it.
    """

    row: int
    author: str
    uid: str
    keys: frozenset[str]
    at: str = ""

    @cached_property
    def squashed(self) -> frozenset[str]:
        """The keys without blanks and signs, as platforms write names into those of files."""
        return frozenset(filter(None, map(_squashed, self.keys)))


class People:
    """The persons of a table.

    Args:
        table: the open file; None for nobody.
        given: the names that the platform put before numbers of submissions, by those.

    Attributes:
        kind: "canvas", "moodle" or "plain".
        persons: in the order of the table.
        unread: times that cannot be read.
    """

    def __init__(self, table: Table | None, given: Mapping[str, str] | None = None) -> None:
        self.kind = _kind(table) if table else "plain"
        self.unread: list[str] = []
        self._given = given or {}
        self._rows = table.rows if table else []
        made = {"canvas": self._of_canvas, "moodle": self._of_moodle, "plain": self._of_plain}[self.kind]
        persons = [made(table, row) for row in range(1, len(self._rows))] if table else []
        self.persons = [person for person in persons if person is not None]
        self._by_key = _unique((key, person) for person in self.persons for key in person.keys)
        self._by_squashed = _unique((key, person) for person in self.persons for key in person.squashed)
        self._by_uid = _unique((person.uid, person) for person in self.persons)
        self._by_number = _unique((person.author, person) for person in self.persons)

    def person_of(self, author: str) -> Person | None:
        """The one person that the author of a submission can be; None unless exactly one fits."""
        author = f"{self._given[author]}_{author}" if author in self._given else author
        if person := self._by_key.get(folded(author)):
            return person
        if self.kind != "plain" and author.isdecimal():
            return self._by_number.get(author)
        name, number = numbered.groups() if (numbered := _NUMBERED.fullmatch(author)) else (author, "")
        person = (self._by_key if self.kind == "plain" else self._by_number).get(number)
        # A number alone may be anything's; with the name, it is the platform's.
        # Moodle's older versions write somebody's team before their name.
        if person and _squashed(name).endswith(tuple(person.squashed)):
            return person
        return self._by_squashed.get(_squashed(name))

    def team(self, name: str) -> list[Person]:
        """Those in whose row a cell is the name of their team, as platforms write it into names of files."""
        team = _squashed(name)
        return [person for person in self.persons if team in map(_squashed, self._rows[person.row])]

    def names_of(self, person: Person) -> frozenset[str]:
        """What means this person and no other, folded."""
        return frozenset(key for key in person.keys if key in self._by_key) | {folded(person.author)}

    def uid_of(self, author: str) -> str:
        """What the author of a submission is called in all hand-ins of a term."""
        person = self.person_of(author)
        return self.uid(person) if person else author

    def uid(self, person: Person) -> str:
        """The same of a person; of two with the same name, each has a number."""
        return person.uid if person.uid in self._by_uid else person.author

    def _of_canvas(self, table: Table, row: int) -> Person | None:
        header = table.header
        name, number = table.cell(row, 0), table.cell(row, header.index("ID"))
        if not number or name == _TEST_STUDENT:  # lines about the columns have no number
            return None
        cells = [table.cell(row, column) for column in range(header.index("Section"))]
        return Person(row, number, number, _keys(name, cells))

    def _of_moodle(self, table: Table, row: int) -> Person | None:
        participant = _PARTICIPANT.fullmatch(table.cell(row, 0))
        if participant is None:
            return None
        header = [title.casefold() for title in table.header]
        count = header.index("status") if "status" in header else _MOODLES_FIRST
        blind = count == 1
        name = participant[1] if blind else table.cell(row, 1)
        at = self._time(table.cell(row, header.index(_HANDED_IN))) if _HANDED_IN in header else ""
        cells = [table.cell(row, column) for column in range(count)]
        number = participant[2]
        uid = number if blind else next((cell for cell in cells if "@" in cell), name)
        return Person(row, number, uid, _keys(name, [*cells, participant[1]]), at)

    def _of_plain(self, table: Table, row: int) -> Person | None:
        cells = [cell.strip() for cell in table.rows[row]]
        if not cells[0]:
            return None
        # First and last name may be two columns.
        both = [name for one, other in pairwise(cells) for name in (f"{one} {other}", f"{other} {one}")]
        return Person(row, cells[0], cells[0], _keys("", [*cells, *both]))

    def _time(self, text: str) -> str:
        if not text or text == "-":
            return ""
        for form in _TIMES:
            with suppress(ValueError):
                return datetime.strptime(text, form).isoformat()
        self.unread.append(text)
        return ""


def people_in(path: Path, given: Mapping[str, str] | None = None) -> People:
    """The people of a file.

    Raises:
        CourseError: it cannot be read, or has nobody in it.
    """
    people = People(Table(path), given)
    if not people.persons:
        raise CourseError(f"{path} has no row for a person; expected a line with titles, then a line for each person")
    return people


def _kind(table: Table) -> str:
    header = table.header
    if "Student" in header[0] and {"ID", "Section"} <= set(header):
        return "canvas"
    firsts = [_PARTICIPANT.fullmatch(row[0].strip()) for row in table.rows[1:]]
    # In another language the titles differ, and so does the word before the number; it is the same in all rows.
    alike = len({first[1] if first else "" for first in firsts}) == 1 and all(firsts)
    is_moodle = header[0] == "Identifier" or (alike and len(header) > _FEW)
    return "moodle" if is_moodle else "plain"


def _keys(name: str, cells: Iterable[str]) -> frozenset[str]:
    last, comma, first = name.partition(",")
    swapped = f"{first.strip()} {last.strip()}" if comma else ""
    return frozenset(folded(text) for text in (name, swapped, *cells) if text.strip())


def _unique(pairs: Iterable[tuple[str, Person]]) -> Mapping[str, Person]:
    """Whom each key means, where that is one person."""
    meant = defaultdict[str, set[Person]](set)
    for key, person in pairs:
        meant[key].add(person)
    return {key: next(iter(persons)) for key, persons in meant.items() if key and len(persons) == 1}


def folded(text: str) -> str:
    """A name without what may differ where it is typed again: case, blanks, and ways to write a letter."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _squashed(text: str) -> str:
    return "".join(char for char in folded(text) if char.isalnum())


def missing_of(people: People, authors: Iterable[str]) -> Iterator[Person]:
    """Those of whom nothing was handed in."""
    there = {person for author in authors if (person := people.person_of(author))}
    return (person for person in people.persons if person not in there)


NOBODY = People(None)
