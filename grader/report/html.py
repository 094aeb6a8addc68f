"""A report as a page of HTML, and as a part of one for notebooks: what the terminal shows, in the same order.

Every text passes through `for_html` on its way into a template of HTML, so that nothing that a student hands in is
markup. Only our own drawings, lines of a terminal as SVG, are put in as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_eval_context, select_autoescape
from jinja2.nodes import EvalContext
from markupsafe import Markup

from grader.model import GradedExercise, Picture, Report
from grader.model.report import first_lines, split_at_rule
from grader.model.score import final_score_text, pluralize, points_text
from grader.report import safe, words
from grader.report.pictures import lines_of, sentence_of, title_of

_TEMPLATES = Path(__file__).with_name("templates")
_MOST_OUTPUT_LINES = 40

INK, PAPER, FAINT = "#1b1f24", "#ffffff", "#6b7280"
BLUE, GREEN, WRONG = "#0072B2", "#009E73", "#D55E00"
"""Colours of Okabe and Ito, which colour-blind readers can tell apart."""

_FILLED = "#0b3a57"
_BEHIND = {WRONG: "#fbe2d3", _FILLED: "#d5ebf8"}
"""What is not empty in a box, and what is wrong, has a colour behind it."""

Styles = Sequence[tuple[re.Pattern[str], str]]
"""What is coloured in a line, and how; of several patterns that match, the first counts."""

_PICTURE_STYLES: Styles = (
    (re.compile(r">\s*[^\s<>]+<"), WRONG),
    (re.compile(r"[┌┬┐└┴┘─│]+"), FAINT),
    (re.compile(r"(?<=│)[^│█▒░]*[^│█▒░\s][^│█▒░]*(?=│)"), _FILLED),
    (re.compile("[█▒░]+"), BLUE),
)
_CHAR, _MARGIN = 8.4, 12
"""In pixels: the width of a character, in the fonts that are common; what is free around a picture."""
_SVG_COLUMNS = 90

CodeLine = tuple[int | None, str, bool]
"""A line of an author's file: its number, where its author sees numbers; its text; and whether it raised."""


def page(report: Report, lines: Mapping[tuple[str, str], Sequence[CodeLine]] | None = None) -> str:
    """Return a report as a page of HTML that needs no other file and has no script.

    Args:
        report: the report.
        lines: lines of the author's file to show beside a failure, by exercise and check. With it, the page is for
            students after grading, and has the hints.
    """
    return render_template("page.html", report=report, own_lines=lines or {}, with_hints=lines is not None)


def fragment(graded: Sequence[GradedExercise], notes: Sequence[str] = ()) -> str:
    """Return exercises of a report as HTML to put into a notebook or another page.

    The HTML has its own style.

    Args:
        graded: the exercises.
        notes: sentences that stand before the exercises.
    """
    return render_template("fragment.html", exercises=graded, notes=notes, own_lines={}, with_hints=False)


def svg_of(picture: Picture) -> str:
    """Return a picture as an SVG, with a description for screen readers."""
    lines = lines_of(picture, _SVG_COLUMNS)
    return lines_svg(lines, title_of(picture), sentence_of(picture), _PICTURE_STYLES, 16)


def lines_svg(lines: Sequence[str], title: str, description: str, styles: Styles, height: int = 20) -> str:
    """Return lines of text as an SVG.

    Args:
        lines: the lines, in characters of one column each.
        title: the title of the picture.
        description: a description, for readers who cannot see the picture.
        styles: pairs of a pattern and the colour of what it matches; of several, the first pair counts. Text in colours
            other than `INK`, `FAINT` and `_FILLED` is bold.
        height: the height of a line, in pixels.
    """
    runs = [run for row, line in enumerate(lines) for run in _colour_runs(line, row * height, styles)]
    width = max((len(line.rstrip()) for line in lines), default=0) * _CHAR + 2 * _MARGIN
    whole = {"width": f"{width:g}", "height": len(lines) * height - 1 + 2 * _MARGIN, "margin": _MARGIN, "paper": PAPER}
    return render_template("lines.svg", runs=runs, line=height, title=title, description=description, **whole) + "\n"


def _colour_runs(line: str, top: int, styles: Styles) -> Iterator[dict[str, Any]]:
    """Split a line into runs of one colour, and yield the SVG attributes of each."""
    colours = [INK] * len(line)
    for pattern, colour in reversed(styles):
        for match in pattern.finditer(line):
            colours[match.start() : match.end()] = [colour] * len(match[0])
    start = 0
    for colour, places in groupby(colours):
        text = line[start : start + len(list(places))]
        place = {"x": f"{start * _CHAR:g}", "top": top, "width": f"{len(text) * _CHAR:g}", "text": text}
        bold = colour not in (INK, FAINT, _FILLED)
        start += len(text)
        if text.strip():
            yield {**place, "colour": colour, "bold": bold, "behind": _BEHIND.get(colour)}


def _blocks_of(message: str) -> list[tuple[str, str]]:
    """Split a message into blocks of text and of code, which is indented.

    "See:", "    x = 1" and "then this" in three lines become
    `[("text", "See:"), ("code", "x = 1"), ("text", "then this")]`.
    """
    blocks: list[tuple[str, list[str]]] = []
    for line in message.split("\n"):
        kind = "code" if line.startswith("    ") else "text"
        if not blocks or (line and kind != blocks[-1][0]):
            blocks.append((kind, []))
        blocks[-1][1].append(line.removeprefix("    "))
    texts = ((kind, "\n".join(lines).strip("\n")) for kind, lines in blocks)
    return [(kind, text) for kind, text in texts if text]


def render_template(template: str, **values: Any) -> str:
    """Return a template filled in with values that are made safe.

    In a template of HTML, SVG or XML, all values are made safe. In any other template, such as one of Markdown, its
    filters do that.
    """
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    """Return Jinja's environment, with which templates of reports are filled in.

    In a template, `for_terminal` of `safe` is the filter `terminal`, and so on. The functions of `words` can be called.
    """
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=select_autoescape(["html", "svg", "xml"]),
        finalize=_escape_value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # `for_terminal` is the filter `terminal`, and so on.
    filters = {name.removeprefix("for_"): value for name, value in vars(safe).items() if name.startswith("for_")}
    one_line = partial(safe.for_terminal, one_line=True)
    environment.filters |= {**filters, "line": one_line, "log": lambda text: safe.for_workflow(one_line(text))}
    environment.globals |= {name: value for name, value in vars(words).items() if callable(value)}
    environment.globals |= {
        "blocks_of": _blocks_of,
        "pluralize": pluralize,
        "drawn": lambda picture: Markup(svg_of(picture)),  # noqa: S704  ours
        "points_text": points_text,
        "beginning": lambda output: "\n".join(first_lines(output, _MOST_OUTPUT_LINES)),
        "final_score_text": final_score_text,
        "split_at_rule": split_at_rule,
        "verdicts": words.VERDICTS,
    }
    return environment


@pass_eval_context
def _escape_value(context: EvalContext, value: object) -> object:
    """Escape a value for a template of HTML, SVG or XML, by `for_html`.

    Our own markup stays as it is, and so do values for any other template.
    """
    if isinstance(value, Markup) or not context.autoescape:
        return value
    return Markup(safe.for_html(str(value)))  # noqa: S704  escaped just here
