"""A CSV file that another program wrote: cells are read and replaced, every other byte stays."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from grader.model.errors import CourseError
from grader.model.files import failing_as, read_limited
from grader.report.safe import csv_text

_DELIMITERS = ",;\t"
_LAST_LATIN = 0xFF
_MOST_BYTES, _MOST_ROWS = 16 << 20, 100_000
"""Ten times what the gradebook of a class of ten thousand has."""


class CsvTable:
    """A CSV file that another program wrote: cells are read and replaced, and every other byte stays as it is.

    Args:
        path: the path of the file.

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
        """Return the titles of the columns."""
        return [title.strip() for title in self.rows[0]]

    def cell(self, row: int, column: int) -> str:
        """Return the text of a cell; "" where the line is too short."""
        cells = self.rows[row]
        return cells[column].strip() if column < len(cells) else ""

    def put(self, row: int, column: int, text: str) -> None:
        """Replace the text of a cell; the other cells of the row stay as they are written.

        Args:
            row: the index of the row in `rows`.
            column: the index of the column.
            text: the new text of the cell.
        """
        place, cells = self._places[row], self.rows[row]
        written = self._texts[place].rstrip("\r\n")
        end = self._texts[place][len(written) :]
        parts = _split_row(written, self._delimiter)
        missing = [""] * (column + 1 - len(cells))  # a line that ends before its last columns
        cells += missing
        parts += missing
        cells[column] = text
        parts[column] = f'"{text}"' if self._delimiter in text else text
        self._texts[place] = self._delimiter.join(parts) + end

    def append(self, cells: Mapping[str, str]) -> None:
        """Add a line at the end of the table.

        After that, do not use `put` and `cell` until the file is read again.

        Args:
            cells: the cells by the title of their column; titles that the file lacks are left out.

        Raises:
            CourseError: the encoding of the file lacks a character.
        """
        end = "\r\n" if self._texts[0].endswith("\r\n") else "\n"
        if not self._texts[-1].endswith(("\r", "\n")):
            self._texts[-1] += end
        written = io.StringIO()
        row = [cells.get(title, "") for title in self.header]
        csv.writer(written, delimiter=self._delimiter, lineterminator=end).writerow(row)
        if self._encoding == "latin-1" and any(ord(char) > _LAST_LATIN for char in written.getvalue()):
            raise CourseError(f"{self.path} is not in UTF-8, so the new line cannot be written; save it as UTF-8")
        self._texts.append(written.getvalue())

    def remove(self, rows: Collection[int]) -> None:
        """Remove some rows of the table.

        After that, do not use `put` and `cell` until the file is read again.

        Args:
            rows: the indices of the rows that are removed, in the attribute `rows`.
        """
        for row in rows:
            self._texts[self._places[row]] = ""

    def content(self) -> bytes:
        """Return the content of the whole file, with all changes."""
        return "".join(self._texts).encode(self._encoding)


def with_row(path: Path, titles: Sequence[str], cells: Mapping[str, str], gone: Collection[int]) -> str | bytes:
    """Return the content of a CSV file with a new row, which may replace other rows.

    Every other row stays byte for byte.

    Args:
        path: the path of the file; if it does not exist, the content is that of a new table.
        titles: the titles of its columns.
        cells: the cells of the new row, by title.
        gone: the rows that the new row replaces, each by the number of the line at which it begins, from 1.

    Raises:
        CourseError: the file lacks a column, or cannot be read.
    """
    if not path.is_file():
        return csv_text([titles, [cells.get(title, "") for title in titles]])
    table = CsvTable(path)
    if missing := [title for title in titles if title not in table.header and cells.get(title)]:
        raise CourseError(f"{path}: its first line has no column {missing[0]}; add it, then save again")
    table.append(cells)
    table.remove([row for row, line in enumerate(table.lines) if line in gone])
    return table.content()


def without_rows(path: Path, gone: Collection[int]) -> bytes:
    """Return the content of a CSV file without some of its rows.

    Every other row stays byte for byte.

    Args:
        path: the path of the file.
        gone: the rows that are left out, each by the number of the line at which it begins, from 1.

    Raises:
        CourseError: the file cannot be read.
    """
    table = CsvTable(path)
    table.remove([row for row, line in enumerate(table.lines) if line in gone])
    return table.content()


def _split_row(row: str, delimiter: str) -> list[str]:
    """Split a row of CSV at its delimiters; each cell keeps its quotes.

    With the delimiter ",", the row `a,"b,c"` becomes `['a', '"b,c"']`.
    """
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
    """Return the text of a file, and the encoding that turns it into the same bytes again."""
    with failing_as(f"{path} cannot be read", "name another file"):
        data = read_limited(path, _MOST_BYTES)
    if b"\0" in data:
        raise CourseError(f"{path} is not CSV in UTF-8; save it as  CSV UTF-8  (comma delimited)")
    encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"  # each byte is a character, and comes back as it was
