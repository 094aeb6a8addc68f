"""Lines of a terminal as an SVG, for a page: the words that count are coloured, and read the same without colour."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.report.pictures.canvas import BLUE, CHAR, FAINT, GREEN, INK, LINE, WRONG, Canvas

_PAGE = 80
_STYLES = (
    (re.compile(r"^\$ .*"), BLUE),
    (re.compile(r"^ {2}(?:FAIL|CRASH|TIME|LIMIT) "), WRONG),
    (re.compile(r"^ {2}pass "), GREEN),
    (re.compile(r"This looks like:"), BLUE),
    (re.compile(r">\s*[^\s<>]+<"), WRONG),
    (re.compile(r"[┌┬┐├┼┤└┴┘─│]+"), FAINT),
)
"""What is coloured, the first that fits first; what is coloured and no line of a box is bold, too."""


def screen_svg(lines: Sequence[str], title: str, description: str) -> str:
    """What a terminal shows.

    Args:
        lines: without control characters; what is wider than a page of 80 columns is cut there.
        title: of the picture.
        description: what it shows, for whoever cannot see it.
    """
    canvas = Canvas()
    for row, line in enumerate(lines):
        shown = line if len(line) <= _PAGE else f"{line[: _PAGE - 4]} ..."
        for start, text, colour in _runs(shown):
            canvas.words(start * CHAR, (row + 1) * LINE - 5, text, colour=colour, bold=colour not in (INK, FAINT))
    return canvas.svg(title, description)


def _runs(line: str) -> list[tuple[int, str, str]]:
    """A line in pieces of one colour, each with its column."""
    colours = [INK] * len(line)
    for pattern, colour in reversed(_STYLES):
        for found in pattern.finditer(line):
            colours[found.start() : found.end()] = [colour] * (found.end() - found.start())
    runs: list[tuple[int, str, str]] = []
    for column, (char, colour) in enumerate(zip(line, colours, strict=True)):
        if runs and runs[-1][2] == colour:
            runs[-1] = (runs[-1][0], runs[-1][1] + char, colour)
        else:
            runs.append((column, char, colour))
    return [(start, text, colour) for start, text, colour in runs if text.strip()]
