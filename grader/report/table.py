"""A CSV file that another program wrote: cells are read and replaced, and every other byte stays as it is.

The standard library's reader forgets quotes, line ends and the byte order mark, so that a file that it writes again
differs in columns that nobody touched.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from grader.model.errors import CourseError
from grader.model.files import failing_as

_LARGEST = 50_000_000
_DELIMITERS = ",;\t"
_QUOTED = r'"(?:[^"]|"")*"'


class Table:
    """An open file.

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
        first = re.sub(_QUOTED, "", next(iter(text.splitlines()), ""))
        self._delimiter = max(_DELIMITERS, key=first.count)
        self._raw, lines = _split(text, self._delimiter, path)
        cells = [[_read(cell) for cell in row[0::2]] for row in self._raw]
        self._places = [place for place, row in enumerate(cells) if any(cell.strip() for cell in row)]
        self.rows: Sequence[list[str]] = [cells[place] for place in self._places]
        self.lines = [lines[place] for place in self._places]
        if not self.rows:
            raise CourseError(f"{path} is empty; download or export it again")
        self.rows[0][0] = self.rows[0][0].lstrip("\ufeff")

    @property
    def header(self) -> list[str]:
        """The titles of the columns."""
        return [title.strip() for title in self.rows[0]]

    def cell(self, row: int, column: int) -> str:
        """What stands in a cell; "" where the line is too short."""
        cells = self.rows[row]
        return cells[column].strip() if column < len(cells) else ""

    def put(self, row: int, column: int, text: str) -> None:
        """Put a number of ours into a cell."""
        raw, cells = self._raw[self._places[row]], self.rows[row]
        while len(cells) <= column:  # a line that ends before its last columns
            cells.append("")
            raw[-1:-1] = [self._delimiter, ""]
        cells[column] = text
        raw[2 * column] = f'"{text}"' if self._delimiter in text else text

    def remove(self, rows: Collection[int]) -> None:
        """Take out lines; after that, rows have no other places for `put` and `cell` until the file is read again."""
        places = {self._places[row] for row in rows}
        self._raw = [row for place, row in enumerate(self._raw) if place not in places]

    def content(self) -> bytes:
        """The whole file."""
        return "".join(part for row in self._raw for part in row).encode(self._encoding)


def _text_of(path: Path) -> tuple[str, str]:
    with failing_as(f"{path} cannot be read", "name another file"):
        if path.stat().st_size > _LARGEST:
            raise CourseError(f"{path} is larger than {_LARGEST // 1_000_000} MB; a gradebook is smaller")
        data = path.read_bytes()
    if b"\0" in data:
        raise CourseError(f"{path} is not CSV in UTF-8; save it as  CSV UTF-8  (comma delimited)")
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"  # each byte is a character, and comes back as it was


def _split(text: str, delimiter: str, path: Path) -> tuple[list[list[str]], list[int]]:
    """Each line as its cells and what stands between them, as written, and the number of each line."""
    mark = re.escape(delimiter)
    cell = re.compile(rf"(\ufeff?(?:{_QUOTED})?[^{mark}\r\n]*)({mark}|\r\n|\n|\r|\Z)")
    rows: list[list[str]] = []
    row: list[str] = []
    lines: list[int] = []
    line = 1
    for raw, end in cell.findall(text):
        if not (row or raw or end):  # behind the last line
            break
        if not row:
            lines.append(line)
        written = raw.removeprefix("\ufeff")
        if written.startswith('"') and not re.match(_QUOTED, written):
            raise CourseError(f"{path}: line {line}: a quote is opened and never closed; export the file again")
        row += [raw, end]
        line += max(0, len(raw.splitlines()) - 1)
        if end != delimiter:
            rows.append(row)
            row, line = [], line + 1
    return rows, lines


def _read(raw: str) -> str:
    """The text of a cell."""
    quoted = re.match(rf"\ufeff?({_QUOTED})", raw)
    return quoted[1][1:-1].replace('""', '"') + raw[quoted.end() :] if quoted else raw
