"""Lines that fit a terminal, by the columns that characters take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.report.safe import columns

WIDTH = 80


def filled(words: Sequence[str], indent: str, width: int, further: str = "  ") -> Iterator[str]:
    """Words in lines, by the columns that they take; the lines after the first stand further in, by two if not said."""
    line, free = indent, True
    for word in words:
        if not free and columns(line) + 1 + columns(word) > width:
            yield line
            line, free = f"{indent}{further}", True
        line += word if free else f" {word}"
        free = False
    yield line


def cut(text: str, room: int) -> str:
    """A line shortened to so many columns."""
    if columns(text) <= room:
        return text
    # Room for the dots.
    kept = text[: room - 4]
    while columns(kept) > room - 4:  # characters of two columns
        kept = kept[:-1]
    return f"{kept.rstrip()} ..."
