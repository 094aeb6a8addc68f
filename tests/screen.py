"""Lines of a terminal as an SVG, for a page: the words that count are coloured, and read the same without colour."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.report.html import BLUE, FAINT, GREEN, WRONG, lines_svg

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
    shown = [line if len(line) <= _PAGE else f"{line[: _PAGE - 4]} ..." for line in lines]
    return lines_svg(shown, title, description, _STYLES)
