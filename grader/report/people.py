"""Tables that other programs wrote, and who is in them: Canvas's gradebook, a Moodle grading worksheet.

A table may also be made by hand. A submission is named by its platform, and a row has a number, a name, a login. The
number that a platform gives is an identity: it finds its row under any name, as the name before it may be a
group's, or may have changed. Where there is no number, a row is found only if exactly one fits.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from grader.model.errors import CourseError
from grader.model.files import failing_as, read_limited

_DELIMITERS = ",;\t"
_LONGEST_NUMBER = 30
_MOST_BYTES, _MOST_ROWS = 16 << 20, 100_000
"""Ten times what the gradebook of a class of ten thousand has."""

_TEST_STUDENT = "Student, Test"
"""Canvas has a student of this name in each course, who is nobody."""

_NUMBERED = re.compile(r"(.*)_(\d+)")
"""How Canvas and Moodle name a submission: somebody's name, and a number."""

_PARTICIPANT = re.compile(r"(\D+?)\s*(\d+)")
_FEW = 4
_STATUS, _TEAM, _GRADE, _MAXIMA = "status", "group", "grade", ("maximum grade", "scale")
_CHANGEABLE, _HANDED_IN, _GRADED = "grade can be changed", "last modified (submission)", "last modified (grade)"
_GROUPS = ("canvas_user_id", "group_name")
"""Columns of the table that Canvas exports below People, Groups."""

_YES_NO = (
    *(("yes", "no"), ("ja", "nein"), ("oui", "non"), ("sí", "no"), ("sì", "no"), ("ja", "nee"), ("sim", "não")),
    *(("tak", "nie"), ("ja", "nej"), ("kyllä", "ei"), ("ano", "ne"), ("igen", "nem"), ("да", "нет")),
    *(("はい", "いいえ"), ("是", "否")),
)
"""Whether a grade can be changed, in languages of Moodle."""

_WHOLE = re.compile(r"\d{1,3}(?:([., '\u00a0\u202f])\d{3})*|\d+")
_PLATFORMS = ("canvas", "moodle")
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
        CourseError: the file cannot be read, is larger than any class's, or is not CSV.
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
                if len(self.rows) > _MOST_ROWS:
                    raise CourseError(f"{path} has more than {_MOST_ROWS:,} rows, which is the limit for a table")
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
        data = read_limited(path, _MOST_BYTES)
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
        names: those of the keys that are the person's name.
        at: when the person handed in, in ISO 8601; "" if the table does not say it.
    """

    row: int
    author: str
    uid: str
    keys: frozenset[str]
    names: frozenset[str]
    at: str = ""

    @cached_property
    def squashed(self) -> frozenset[str]:
        """The keys without blanks and signs, as platforms write names into those of files."""
        return frozenset(filter(None, map(_squashed, self.keys)))

    def is_called(self, name: str) -> bool:
        """Whether this is the person's name, as a platform may write it into that of a file."""
        return _squashed(name) in map(_squashed, self.names)


def number_in(text: str) -> int | None:
    """Return a number of another program in hundredths, with a point or a comma; None if the text is not clear.

    Of two kinds of signs the last one begins the decimals: 1,000.00 and 1.000,00 are a thousand. A sign alone with
    three digits behind it may be either kind.
    """
    text = text.strip()
    if len(text) > _LONGEST_NUMBER:
        return None
    cut = max(text.rfind("."), text.rfind(","))
    whole, decimals = (text[:cut], text[cut + 1 :]) if cut >= 0 else (text, "")
    if cut >= 0 and text.count(text[cut]) > 1:  # the sign stands between thousands
        whole, decimals = text, ""
    elif cut >= 0 and len(decimals) == 3 and whole.isdecimal() and 0 < len(whole) <= 3:
        return None
    negative, whole = whole.startswith("-"), whole.removeprefix("-")
    signs = {char for char in whole if not char.isdecimal()}
    if not (_WHOLE.fullmatch(whole) and len(signs) <= 1 and (decimals.isdecimal() or not decimals)):
        return None
    if cut >= 0 and text[cut] in signs and decimals:
        return None
    value = round(float(f"{''.join(char for char in whole if char.isdecimal())}.{decimals or 0}") * 100)
    return -value if negative else value


@dataclass(frozen=True)
class Worksheet:
    """Where the columns of Moodle's grading worksheet stand, whose titles are in its language.

    Attributes:
        identity: how many columns say who it is: the participant, the name, an address.
        teams: columns that may have the name of a team. In other languages than English this may also be the status,
            or who marks.
        of_teams: whether one column is that of teams for sure. Moodle writes it only where teams hand in.
        grade: the points.
        maximum: the most points, or the words of a scale; behind it the other columns of the grade stand.
        changeable: whether the grade can be changed, or None.
        submitted: when something was handed in, or None.
        graded: when the grade was changed last, or None.
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
    def of(cls, table: Table) -> Worksheet:
        """Find the columns: by their English titles, else by what stands in them, in the order that Moodle writes."""
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
        maxima = [at for at in range(2, len(titles)) if _is_maximum(columns[at], columns[at - 1])]
        if len(maxima) != 1:
            return cls(min(len(titles), _FEW - 1))
        (maximum,) = maxima
        later = range(maximum + 1, min(maximum + 3, len(titles)))  # the state of a workflow may stand between
        changeable = next((at for at in later if is_yes_no(columns[at])), maximum)
        times = [at for at in (changeable + 1, changeable + 2) if at < len(titles) and all(map(_is_time, columns[at]))]
        changes = changeable if changeable != maximum else None
        submitted, graded = [*times, None, None][:2]
        return cls(maximum - 1, range(2, maximum - 1), maximum - 1, maximum, changes, submitted, graded)


def is_yes_no(cells: Iterable[str]) -> bool:
    """Whether cells say yes and no, all in one language."""
    words = {cell.casefold() for cell in cells}
    return any(words <= set(pair) for pair in _YES_NO)


def is_no(cell: str) -> bool:
    """Whether a cell of such a column says no."""
    return cell.casefold() in {no for _, no in _YES_NO}


def _is_time(cell: str) -> bool:
    return cell in ("", "-") or any(map(str.isdecimal, cell))


def _is_maximum(cells: Sequence[str], before: Sequence[str]) -> bool:
    """Whether a column has the same points for everybody, and the one before it no more than these."""
    most = number_in(cells[0]) if len(set(cells)) == 1 else None
    scores = [number_in(cell) if cell not in ("", "-") else 0 for cell in before]
    return most is not None and most > 0 and all(score is not None and 0 <= score <= most for score in scores)


class People:
    """The persons of a table.

    Args:
        table: the open file; None for nobody.
        given: the names that the platform put before numbers of submissions, by those.
        platform: whose numbers those of submissions are, "canvas" or "moodle"; "" if nothing says it.

    Attributes:
        kind: "canvas", "moodle" or "plain".
        persons: in the order of the table.
        unread: times that cannot be read.
        worksheet: where Moodle's columns stand.
    """

    def __init__(self, table: Table | None, given: Mapping[str, str] | None = None, platform: str = "") -> None:
        self.kind = _kind(table) if table else "plain"
        self.unread: list[str] = []
        self._given, self._platform = given or {}, platform
        self._rows = table.rows if table else []
        self._titles = table.header if table else []
        self.worksheet = Worksheet.of(table) if table and self.kind == "moodle" else Worksheet(0)
        made = {"canvas": self._of_canvas, "moodle": self._of_moodle, "plain": self._of_plain}[self.kind]
        persons = [made(table, row) for row in range(1, len(self._rows))] if table else []
        self.persons = [person for person in persons if person is not None]
        self._by_key = _unique((key, person) for person in self.persons for key in person.keys)
        self._by_squashed = _unique((key, person) for person in self.persons for key in person.squashed)
        self._by_uid = _unique((person.uid, person) for person in self.persons)
        self._by_number = _unique((number, person) for person in self.persons for number in self._numbers_of(person))

    def person_of(self, author: str) -> Person | None:
        """The one person that the author of a submission is; None unless exactly one fits."""
        if author.isdecimal() and (self.kind == "plain" or self._platform in ("", self.kind)):
            if person := self._by_number.get(author):
                return person
            if self.kind != "plain":
                return None  # the platform's number is on no row, and a name alone may be somebody else's
        # Of another platform's number the name alone can say whose it is here.
        is_given = author in self._given
        author = f"{self._given[author]}_{author}" if is_given else author
        if person := self._by_key.get(folded(author)):
            return person
        name, number = numbered.groups() if (numbered := _NUMBERED.fullmatch(author)) else (author, "")
        person = None if self._is_foreign() else (self._by_key if self.kind == "plain" else self._by_number).get(number)
        # A number alone may be anything's; with the name, it is the platform's.
        # Moodle's older versions write somebody's team before their name.
        if person and _squashed(name).endswith(tuple(person.squashed)):
            return person
        name = name if is_given else author  # ada_1 is somebody else than ada, unless a platform put the number there
        return self._by_key.get(folded(name)) or self._by_squashed.get(_squashed(name))

    def _is_foreign(self) -> bool:
        """Whether the numbers of submissions are another platform's than those of the table."""
        return self.kind != "plain" and self._platform not in ("", self.kind)

    def _numbers_of(self, person: Person) -> Iterator[str]:
        """The numbers by which submissions are this person's: a platform's, or those in a column that has them."""
        if self.kind != "plain":
            yield person.author
            return
        cells = self._rows[person.row]
        for at, (title, cell) in enumerate(zip(self._titles, cells, strict=False)):
            if cell.strip().isdecimal() and (at == 0 or title.casefold() in _NUMBER_TITLES):
                yield cell.strip()

    def team(self, name: str, number: str) -> list[Person]:
        """Return the members of the team that handed in; nobody where it was one person, or nothing says it.

        Args:
            name: what the platform wrote before the number: a team's name, or a person's, and both may be equal.
            number: that of the submission. On Canvas it is that of a member; on Moodle it is the team's own.
        """
        squashed, rows, own = _squashed(name), self._rows, self._by_number.get(number)
        members = [
            person
            for person in self.persons
            if any(at < len(rows[person.row]) and _squashed(rows[person.row][at]) == squashed for at in self._teams())
        ]
        if own is None or (self._platform == self.kind == "moodle" and self.worksheet.of_teams):
            return members
        if self._platform == "moodle":
            return [] if own.is_called(name) else members
        return members if own in members else []

    def called_otherwise(self, authors: Iterable[str]) -> list[str]:
        """Return who has another name before the number than on the row of the number, where no column has teams.

        It may be the name of a group, of which Canvas gives one member's number.
        """
        if self._platform != "canvas" or self.kind != "canvas" or self._teams():
            return []
        own = {author: self._by_number.get(author) for author in authors if author in self._given}
        return [who for who, person in own.items() if person and not person.is_called(self._given[who])]

    def _teams(self) -> Sequence[int]:
        """Where names of teams stand: in a worksheet of Moodle, else where the title says it."""
        if self.kind == "moodle":
            return self.worksheet.teams
        return [at for at, title in enumerate(self._titles) if title.casefold() in _GROUP_TITLES]

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
        if set(_GROUPS) <= set(header):
            number, name = table.cell(row, header.index(_GROUPS[0])), table.cell(row, 0)
            cells = [table.cell(row, at) for at in range(header.index(_GROUPS[1])) if header[at] != "sections"]
            return Person(row, number, number, _keys(name, cells), _keys(name, ())) if number else None
        place = header.index("ID")
        name, number = ", ".join(filter(None, (table.cell(row, at) for at in range(place)))), table.cell(row, place)
        if not number or name == _TEST_STUDENT:  # lines about the columns have no number
            return None
        cells = [table.cell(row, column) for column in range(place, header.index("Section"))]
        return Person(row, number, number, _keys(name, [name, *cells]), _keys(name, ()))

    def _of_moodle(self, table: Table, row: int) -> Person | None:
        participant = _PARTICIPANT.fullmatch(table.cell(row, 0))
        if participant is None:
            return None
        sheet = self.worksheet
        blind = sheet.identity == 1
        name = participant[1] if blind else table.cell(row, 1)
        at = self._time(table.cell(row, sheet.submitted)) if sheet.submitted is not None else ""
        cells = [table.cell(row, column) for column in range(sheet.identity)]
        number = participant[2]
        uid = number if blind else next((cell for cell in cells if "@" in cell), name)
        return Person(row, number, uid, _keys(name, [*cells, participant[1]]), _keys(name, ()), at)

    def _of_plain(self, table: Table, row: int) -> Person | None:
        cells = [cell.strip() for cell in table.rows[row]]
        if not cells[0]:
            return None
        # First and last name may be two columns.
        both = [name for one, other in pairwise(cells) for name in (f"{one} {other}", f"{other} {one}")]
        keys = _keys("", [*cells, *both])
        return Person(row, cells[0], cells[0], keys, keys)

    def _time(self, text: str) -> str:
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
    """The people of a file; see `People`.

    Raises:
        CourseError: it cannot be read, or has nobody in it.
    """
    people = People(Table(path), given, platform)
    if not people.persons:
        raise CourseError(f"{path} has no row for a person; expected a line with titles, then a line for each person")
    return people


def _kind(table: Table) -> str:
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
    return "moodle" if alike and len(header) > _FEW and is_graded else "plain"


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
    return "".join(filter(str.isalnum, folded(text)))


def missing_of(people: People, authors: Iterable[str]) -> Iterator[Person]:
    """Those of whom nothing was handed in."""
    there = {person for author in authors if (person := people.person_of(author))}
    return (person for person in people.persons if person not in there)


NOBODY = People(None)
