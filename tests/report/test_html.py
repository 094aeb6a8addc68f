"""A report as HTML: what the terminal shows, with nothing of a student's as markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from report.test_terminal import row
from support import COURSES

from grader.course.load import load_course
from grader.model import Environment, GradedCheck, GradedExercise, Mistake, Report, Score
from grader.report import html
from grader.report.html import fragment, page

_VOID = ("meta", "br", "link")
_CSS = Path(html.__file__).with_name("templates") / "report.css"


class Read(HTMLParser):
    """What a browser makes of a page: its elements, and the text of each cell, paragraph and block."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style" and data.strip():
            self.texts.append(data)


def report(*rows: GradedCheck, mistakes: tuple[Mistake, ...] = (), output: str = "") -> Report:
    exercise = load_course(COURSES / "tiny").exercises[0]
    score = sum((item.score for item in rows), Score(0, 0))
    graded = GradedExercise(exercise, "started", rows, score, output=output, mistakes=mistakes)
    environment = Environment("3", "2", "2", "linux", "cpu", 1, 0, "fork", "full", "0")
    return Report("Tensors", "week1", "ada", "0", "2026-11-22T10:00:00+00:00", (graded,), environment)


def test_cause_comes_first() -> None:
    """The rows are those of the terminal: the cause with its message, what stops there as one, the rest in short."""
    message = (
        "your `double` raised TypeError: no\n    double.py, line 3\n        x @ 2\n\nTo see it:\n    print(double(1))"
    )
    rows = (
        row("fine", "passed"),
        row("value", "failed", "values", "wrong value"),
        row("first", "crashed", "raised", message),
        row("other", "crashed", "raised", message.split("\n")[0], shown=False),
    )
    mistakes = (
        Mistake("You double twice.", ("double",), "C1", ("first",)),
        Mistake("You add.", ("g",), "C2", ("value",)),
    )
    graded = report(*rows, mistakes=mistakes).exercises
    shown = Read(fragment(graded, notes=["one cell was left out"])).texts
    short = shown[: shown.index("All checks")]
    assert short == [
        *("one cell was left out", "01-1 Double it ", "0.5 / 2 points", "Checks, most likely cause first"),
        *("Verdict", "Rule", "Check", "Points"),
        *("CRASH", "C1", "Title of first", "0 / 0.5"),
        "This looks like: You double twice.",
        *("your `double` raised TypeError: no", "double.py, line 3\n    x @ 2", "To see it:", "print(double(1))"),
        *("C1", "1 more check fails for the same reason", "0 / 0.5"),
        *("FAIL", "C1", "Title of value", "0 / 0.5"),
        *("pass", "C1", "1 check", "0.5 / 0.5"),
        "In `g` (rule C2): You add.",
    ]
    assert shown[len(short) :][6:12] == ["pass", "C1", "Title of fine", "0.5 / 0.5", "3 operations", "FAIL"]
    assert "for staff" not in " ".join(shown)


def test_students_text_is_not_markup() -> None:
    """Whatever a student hands in is text on the page, and what cannot be seen of it is spelled out."""
    hostile = "</pre></style></table><script>alert(1)</script>{{ 7 * 7 }}<b a='\"'>\u202e&amp;"
    plain = report(
        row("a", "failed", "values", "wrong"), mistakes=(Mistake("mistake", checks=("a",)),), output="printed"
    )
    ours = Read(page(plain)).tags
    bad = report(
        row(hostile, "failed", "values", hostile), mistakes=(Mistake(hostile, checks=(hostile,)),), output=hostile
    )
    read = Read(page(replace(bad, author=hostile, handin=hostile)))
    assert read.tags == ours
    spelled = hostile.replace("\u202e", "\\u202e")
    assert sum(spelled in text for text in read.texts) >= 5


def test_a_fragment_wins_over_the_page_around_it() -> None:
    """Jupyter has rules of its own for tables and code, as specific as one class and one element."""
    style = fragment([]).split("</style>")[0]
    assert style.count(".tensorgrade") == 2 * style.count(".tensorgrade.tensorgrade") > 0


def test_colours_differ_from_their_ground() -> None:
    """Each colour of text has a contrast of 4.5 or more to each ground that it stands on, by light and in the dark."""
    css = _CSS.read_text(encoding="utf-8")
    themes = [dict(re.findall(r"--(\w+): (#\w{6})", part)) for part in css.split("@media", 2)[:2]]
    assert [len(theme) for theme in themes] == [9, 9]
    for theme in themes:
        light = {name: _luminance(colour) for name, colour in theme.items()}
        for ground, inks in {"paper": "ink soft pass fail open", "warm": "ink soft fail", "code": "ink"}.items():
            for ink in inks.split():
                low, high = sorted((light[ink], light[ground]))
                assert (high + 0.05) / (low + 0.05) >= 4.5, (ground, ink)


def _luminance(colour: str) -> float:
    """As the Web Content Accessibility Guidelines reckon it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
