"""A report as a page of HTML, and as a part of one for notebooks: what the terminal shows, in the same order.

Every text passes through `for_html` on its way into a template, so that nothing that a student hands in is markup. Only
our own drawings are put in as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader.model import GradedCheck, GradedExercise, Picture, Report
from grader.model.report import first_lines
from grader.model.score import Causes, counted, points_text
from grader.report import words
from grader.report.pictures import svg_of
from grader.report.safe import for_html

_TEMPLATES = Path(__file__).with_name("templates")
_MOST_OUTPUT_LINES = 40


CodeLine = tuple[int | None, str, bool]
"""A line of an author's file: its number, where its author sees numbers; its text; and whether it raised."""


def page(report: Report, lines: Mapping[str, Sequence[CodeLine]] | None = None) -> str:
    """A report as a page that stands by itself: no script, no other file.

    Args:
        report: the report.
        lines: by exercise, what of the author's file is shown beside the cause; with it, the page is what is returned
            after grading, and has the hints.
    """
    said = [*words.undecided_lines(report), *(line.strip() for line in words.next_lines(report))]
    when = f"{report.graded_at[:16].replace('T', ' ')} UTC"
    values = {"own_lines": lines or {}, "with_hints": lines is not None}
    return rendered("page.html", report=report, when=when, total=words.total_text(report), lines=said, **values)


def fragment(graded: Sequence[GradedExercise], notes: Sequence[str] = ()) -> str:
    """Exercises of a report as a part of a page, with its own style.

    Args:
        graded: the exercises.
        notes: sentences that stand before it.
    """
    return rendered("fragment.html", exercises=graded, notes=notes, own_lines={}, with_hints=False)


def _has_details(graded: GradedExercise) -> bool:
    """Whether a table of each check says more than the first table."""
    return len(graded.checks) > 1 or any(_measured(graded, row) for row in graded.checks)


def _measured(graded: GradedExercise, row: GradedCheck) -> list[str]:
    """What was counted and measured, of the student and of the reference."""
    own = words.counts_text(graded.exercise.counters.get(row.check.id, {}))
    counts = words.counts_text(row.outcome.counters)
    return [*filter(None, (counts, own and f"the reference: {own}")), *(item.told for item in row.speed)]


def _drawn(picture: Picture) -> Markup:
    return Markup(svg_of(picture))  # noqa: S704  ours


def _blocks_of(message: str) -> list[tuple[str, str]]:
    """A message as blocks: ("text", ...) and ("code", ...), which is what stands further in."""
    blocks: list[tuple[str, list[str]]] = []
    for line in message.split("\n"):
        kind = "code" if line.startswith("    ") else "text"
        if not blocks or (line and kind != blocks[-1][0]):
            blocks.append((kind, []))
        blocks[-1][1].append(line.removeprefix("    "))
    texts = ((kind, "\n".join(lines).strip("\n")) for kind, lines in blocks)
    return [(kind, text) for kind, text in texts if text]


def rendered(template: str, **values: Any) -> str:
    """A template with values in it, each made safe."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_safe,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {name: value for name, value in vars(words).items() if callable(value)}
    environment.globals |= {
        "blocks_of": _blocks_of,
        "counted": counted,
        "drawn": _drawn,
        "has_details": _has_details,
        "measured": _measured,
        "points_text": points_text,
        "printed": lambda output: "\n".join(first_lines(output, _MOST_OUTPUT_LINES)),
        "causes_of": Causes.of,
        "verdicts": words.VERDICTS,
    }
    return environment


def _safe(value: object) -> Markup:
    """What a template puts in: text by `for_html`, which also spells out what cannot be seen; our own markup as is."""
    return value if isinstance(value, Markup) else Markup(for_html(str(value)))  # noqa: S704  escaped just here
