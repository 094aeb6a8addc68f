"""A report as a page of HTML, and as a part of one for notebooks: what the terminal shows, in the same order.

Every text passes through `for_html` on its way into a template, whoever wrote it and wherever it stands: nothing that
a student hands in is markup here. Drawings alone are put in as they are, and only ours are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader.grading.causes import Told
from grader.model import GradedCheck, GradedExercise, Report
from grader.report.pictures import svg_of
from grader.report.safe import for_html
from grader.report.words import (
    VERDICTS,
    counts_text,
    exercise_notes,
    hidden_text,
    in_short,
    mistake_text,
    next_lines,
    rules_of,
    score_text,
    state_text,
    together,
    total_text,
    undecided_lines,
)

_TEMPLATES = Path(__file__).with_name("templates")
_MOST_OUTPUT_LINES = 40


def page(report: Report) -> str:
    """A report as a page that stands by itself: no script, no other file."""
    exercises = [_exercise(graded) for graded in report.exercises]
    lines = [*undecided_lines(report), *(line.strip() for line in next_lines(report))]
    when = report.graded_at.replace("T", " ")
    return rendered("page.html", report=report, when=when, exercises=exercises, total=total_text(report), lines=lines)


def fragment(graded: Sequence[GradedExercise], notes: Sequence[str] = ()) -> str:
    """Exercises of a report as a part of a page, with its own style.

    Args:
        graded: the exercises.
        notes: sentences that stand before it.
    """
    return rendered("fragment.html", exercises=[_exercise(item) for item in graded], notes=notes)


@dataclass(frozen=True)
class _Row:
    """A row of a table: one check, or several that have the same text.

    Attributes:
        kind: the verdict, by which it is coloured.
        word: the verdict as it is read; "" in a row that goes on.
        rules: of the checks.
        title: what they look at.
        points: of all of them.
        told: what is said below it, as blocks of text and of code.
        mistake: the known mistake that it looks like.
        drawing: of what is said.
        measured: what was counted and measured.
    """

    kind: str
    word: str
    rules: str
    title: str
    points: str
    told: tuple[tuple[str, str], ...] = ()
    mistake: str = ""
    drawing: Markup | None = None
    measured: tuple[str, ...] = ()

    @classmethod
    def of(cls, row: GradedCheck, *, in_full: bool = True, **more: Any) -> _Row:
        """That of one check; in full with its message and its picture."""
        check, verdict = row.check, row.outcome.verdict
        if in_full:
            svg = svg_of(row.outcome.picture) if row.outcome.picture is not None else ""
            more |= {"told": tuple(_blocks(row.outcome.message)), "drawing": Markup(svg)}  # noqa: S704  ours
        title = check.title + hidden_text(check.shown)
        return cls(verdict.value, VERDICTS[verdict][0], check.contract, title, score_text(row.score), **more)


def _exercise(graded: GradedExercise) -> dict[str, Any]:
    """What a template shows of an exercise."""
    told = Told.of(graded.checks)
    every = list(_every(told, graded))
    return {
        "name": f"{graded.exercise.number} {graded.exercise.title}",
        "state": state_text(graded),
        "points": score_text(graded.score),
        "rows": list(_in_short(told, graded)),
        "every": every if len(every) > 1 or any(row.measured for row in every) else (),
        "output": _beginning(graded.output),
        "notes": list(exercise_notes(graded)),
    }


def _in_short(told: Told, graded: GradedExercise) -> Iterator[_Row]:
    """The rows of the terminal."""
    for line in in_short(told):
        first = line.rows[0]
        if line.text:
            word = VERDICTS[line.verdict][0] if line.verdict else ""
            points = score_text(together(line.rows))
            yield _Row(first.outcome.verdict.value, word, rules_of(line.rows), line.text, points)
        else:
            mistake = mistake_text(graded) if first is told.cause else ""
            yield _Row.of(first, in_full=line.in_full, mistake=mistake)


def _every(told: Told, graded: GradedExercise) -> Iterator[_Row]:
    """Each check in the order in which it ran, with its counts; the cause is shown in full above."""
    for row in graded.checks:
        theirs = counts_text(graded.exercise.counters.get(row.check.id, {}))
        counts = counts_text(row.outcome.counters)
        measured = (*filter(None, (counts, theirs and f"our own answer: {theirs}")), *(item.told for item in row.speed))
        yield _Row.of(row, in_full=row is not told.cause, measured=measured)


def _blocks(message: str) -> Iterator[tuple[str, str]]:
    """A message as blocks: ("text", ...) and ("code", ...), which is what stands further in."""
    block: list[str] = []
    kind = "text"
    for line in message.split("\n") if message else ():
        now = "code" if line.startswith("    ") else "text"
        if line and now != kind:
            yield from _block(kind, block)
            block, kind = [], now
        block.append(line.removeprefix("    "))
    yield from _block(kind, block)


def _block(kind: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    if text := "\n".join(lines).strip("\n"):
        yield kind, text


def _beginning(output: str) -> str:
    lines = output.rstrip("\n").split("\n")
    more = len(lines) - _MOST_OUTPUT_LINES
    return "\n".join(lines if more <= 0 else [*lines[:_MOST_OUTPUT_LINES], f"... {more} more lines"])


def rendered(template: str, **values: Any) -> str:
    """A template with values in it, each made safe."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_safe,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _safe(value: object) -> Markup:
    """What a template puts in: text by `for_html`, which also spells out what cannot be seen; our own markup as is."""
    return value if isinstance(value, Markup) else Markup(for_html(str(value)))  # noqa: S704  escaped just here
