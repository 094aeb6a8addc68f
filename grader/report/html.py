"""A report as a page of HTML, and as a part of one for notebooks: what the terminal shows, in the same order.

Every text passes through `for_html` on its way into a template, whoever wrote it and wherever it stands: nothing that
a student hands in is markup here. Drawings alone are put in as they are, and only ours are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader.grading.causes import Told
from grader.model import GradedCheck, GradedExercise, Report, Verdict
from grader.report.pictures.draw import svgs_of
from grader.report.safe import for_html
from grader.report.words import (
    VERDICTS,
    counts_text,
    exercise_notes,
    hidden_text,
    mistake_text,
    next_lines,
    passed_text,
    rules_of,
    same_text,
    score_text,
    state_text,
    together,
    total_text,
    undecided_lines,
    unwritten_text,
)

_TEMPLATES = Path(__file__).with_name("templates")
_MOST_OUTPUT_LINES = 40

Drawings = Callable[[GradedCheck], str]
"""Draws what a check's message tells, as an SVG of ours with a title and a description; "" where there is nothing."""


def drawn(row: GradedCheck) -> str:
    """The picture of a check, if there is one."""
    return "".join(svgs_of(row.outcome.picture)) if row.outcome.picture is not None else ""


def page(report: Report, drawings: Drawings = drawn) -> str:
    """A report as a page that stands by itself: no script, no other file."""
    exercises = [_exercise(graded, drawings) for graded in report.exercises]
    lines = [*undecided_lines(report), *(line.strip() for line in next_lines(report))]
    when = report.graded_at.replace("T", " ")
    return rendered("page.html", report=report, when=when, exercises=exercises, total=total_text(report), lines=lines)


def fragment(graded: Sequence[GradedExercise], notes: Sequence[str] = (), drawings: Drawings = drawn) -> str:
    """Exercises of a report as a part of a page, with its own style.

    Args:
        graded: the exercises.
        notes: what is to be said before it.
        drawings: see `Drawings`.
    """
    exercises = [_exercise(item, drawings) for item in graded]
    return rendered("fragment.html", exercises=exercises, notes=notes)


@dataclass(frozen=True)
class _Row:
    """A row of a table: one check, or several of which the same is to be said.

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
    def of(cls, row: GradedCheck, **more: Any) -> _Row:
        """That of one check."""
        check, verdict = row.check, row.outcome.verdict
        title = check.title + hidden_text(check.shown)
        return cls(verdict.value, VERDICTS[verdict][0], check.contract, title, score_text(row.score), **more)

    @classmethod
    def several(cls, rows: Sequence[GradedCheck], title: str, kind: str, word: str = "") -> _Row:
        """That of several."""
        return cls(kind, word, rules_of(rows), title, score_text(together(rows)))


@dataclass(frozen=True)
class _Exercise:
    """What a template shows of an exercise."""

    name: str
    state: str
    points: str
    rows: tuple[_Row, ...]
    every: tuple[_Row, ...]
    output: str
    notes: tuple[str, ...]


def _exercise(graded: GradedExercise, drawings: Drawings) -> _Exercise:
    told = Told.of(graded.checks)
    rows = tuple(_in_short(told, graded, drawings))
    every = tuple(_every(told, graded, drawings))
    return _Exercise(
        f"{graded.exercise.number} {graded.exercise.title}",
        state_text(graded),
        score_text(graded.score),
        rows,
        every if len(every) > 1 or any(row.measured for row in every) else (),
        _beginning(graded.output),
        tuple(exercise_notes(graded)),
    )


def _in_short(told: Told, graded: GradedExercise, drawings: Drawings) -> Iterator[_Row]:
    """The rows of the terminal: the cause in full, the others in short."""
    if told.cause is not None:
        yield _in_full(told.cause, drawings, mistake=mistake_text(graded))
    if told.same:
        yield _Row.several(told.same, same_text(told.same), told.same[0].outcome.verdict.value)
    for row in told.lost:
        yield _Row.of(row)
    if told.unwritten:
        skipped = Verdict.SKIPPED
        yield _Row.several(told.unwritten, unwritten_text(told.unwritten), skipped.value, VERDICTS[skipped][0])
    for number, row in enumerate(told.open):
        yield _in_full(row, drawings) if told.cause is None and number == 0 else _Row.of(row)
    if told.passed:
        passed = Verdict.PASSED
        yield _Row.several(told.passed, passed_text(told.passed), passed.value, VERDICTS[passed][0])


def _every(told: Told, graded: GradedExercise, drawings: Drawings) -> Iterator[_Row]:
    """Each check in the order in which it ran, with what was counted of it; the cause is told in full above."""
    for row in graded.checks:
        theirs = counts_text(graded.exercise.counters.get(row.check.id, {}))
        counts = counts_text(row.outcome.counters)
        measured = (*filter(None, (counts, theirs and f"our own answer: {theirs}")), *(item.told for item in row.speed))
        yield _Row.of(row, measured=measured) if row is told.cause else _in_full(row, drawings, measured=measured)


def _in_full(row: GradedCheck, drawings: Drawings, **more: Any) -> _Row:
    drawing = Markup(drawings(row))  # noqa: S704  ours, as its type says
    return _Row.of(row, told=tuple(_blocks(row.outcome.message)), drawing=drawing, **more)


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
