"""A file that Python cannot parse: where its line is wrong, and a merge that was left unresolved."""

from __future__ import annotations


def carets(line: str, first: int, last: int) -> list[str]:
    """Return the line of carets that Python prints below a line with a SyntaxError.

    For `    x = (1` and the columns 9 and 10, it marks the `(`. It belongs below the line without its indentation,
    shown with 8 blanks before it. The list is empty if the carets cannot be placed.

    Args:
        line: the line as it stands in the file.
        first: the first column that is marked, from 1.
        last: the column behind the last one.
    """
    before = 1 + len(line) - len(line.lstrip())
    if not line.isprintable() or not before <= first <= len(line) + 1:
        return []
    return [" " * (8 + first - before) + "^" * max(1, min(last, len(line) + 1) - first)]


_MERGE = (b"<<<<<<< ", b"=======", b">>>>>>> ")
UNRESOLVED = (
    "it has an unresolved merge; keep one of the two versions, and remove the lines with <<<<<<<, ======= and >>>>>>>"
)
"""What a student reads of a file with `unresolved_merge_line`."""


def unresolved_merge_line(source: bytes) -> int:
    """Return the number of the line in which an unresolved merge of git begins; 0 without one."""
    lines = source.splitlines()
    begins = [number for number, line in enumerate(lines, 1) if line.startswith(_MERGE[0])]
    return begins[0] if begins and all(any(line.startswith(mark) for line in lines) for mark in _MERGE) else 0
