"""A CSV file that another program wrote: cells are read and replaced, and the others keep their texts.

Encoding, byte order mark, delimiter and line ends stay as they are. Quotes stand where a cell needs them.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Collection
from pathlib import Path

from grader.model.errors import CourseError
from grader.model.files import failing_as

_LARGEST = 50_000_000
_DELIMITERS = ",;\t"


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
        titles = re.sub('"[^"]*"', "", next(iter(text.splitlines()), ""))
        self._delimiter = max(_DELIMITERS, key=titles.count)
        self._end = "\r\n" if "\r\n" in text else "\n"
        self.rows: list[list[str]] = []
        self.lines: list[int] = []
        # Strict, since a quote that is never closed would take all further rows into its cell.
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self._delimiter, strict=True)
        line = 1
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    self.rows.append(cells)
                    self.lines.append(line)
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
        """Put a number of ours into a cell."""
        cells = self.rows[row]
        cells += [""] * (column + 1 - len(cells))  # a line that ends before its last columns
        cells[column] = text

    def remove(self, rows: Collection[int]) -> None:
        """Take out lines; after that, rows have other places."""
        self.rows = [cells for place, cells in enumerate(self.rows) if place not in rows]

    def content(self) -> bytes:
        """The whole file, without lines that have no text."""
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self._delimiter, lineterminator=self._end).writerows(self.rows)
        return text.getvalue().encode(self._encoding)


def _text_of(path: Path) -> tuple[str, str]:
    """The text of a file, and the encoding by which it is written again."""
    with failing_as(f"{path} cannot be read", "name another file"):
        if path.stat().st_size > _LARGEST:
            raise CourseError(f"{path} is larger than {_LARGEST // 1_000_000} MB; a gradebook is smaller")
        data = path.read_bytes()
    if b"\0" in data:
        raise CourseError(f"{path} is not CSV in UTF-8; save it as  CSV UTF-8  (comma delimited)")
    encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"  # each byte is a character, and comes back as it was
