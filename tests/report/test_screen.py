"""A terminal as an SVG: each word in its column, wrong cells coloured, long lines cut."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from grader.report.pictures.canvas import CHAR, WRONG
from grader.report.pictures.screen import screen_svg

LINES = ["$ grade x", "  FAIL    C1  Title", "          |>2<| 3 |", "z" * 100]


def test_words_stand_in_their_columns() -> None:
    """What is wrong is bold and has a colour of its own; what is wider than a page is cut."""
    root = ET.fromstring(screen_svg(LINES, "A title", "What it shows"))
    texts = [node for node in root.iter() if node.tag.endswith("text")]
    wrong = [(node.text, float(node.attrib["x"])) for node in texts if node.attrib["fill"] == WRONG]
    assert wrong == [("  FAIL ", 0.0), (">2<", 11 * CHAR)]
    assert all("font-weight" in node.attrib for node in texts if node.attrib["fill"] == WRONG)
    assert texts[-1].text == "z" * 76 + " ..."
