"""A report for a terminal: 40 to 80 columns, ASCII of our own, readable without colour."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from grader.grading.causes import Told
from grader.model import GradedCheck, GradedExercise, Report, Score, Submission, Verdict
from grader.model.score import points_text
from grader.report.pictures import ASCII, Drawing, lines_of
from grader.report.safe import WIDTH, columns, cut, filled, for_terminal
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

_MOST_OUTPUT_LINES = 12
_NARROW = 64
_MOST_WAITING = 3
"""So many exercises that are not started have rows of their own in the table."""


def exercise_lines(
    graded: GradedExercise, width: int = WIDTH, *, every: bool = False, drawing: Drawing = ASCII
) -> Iterator[str]:
    """One exercise: the cause of what was lost, in full; the other checks in short; what was printed; what is open.

    Args:
        graded: the exercise.
        width: columns of the terminal.
        every: show each check with its message, those that passed with what was counted.
        drawing: how pictures are drawn.
    """
    page, exercise = _Page(width, drawing), graded.exercise
    told = Told.of(graded.checks)
    score = f"{score_text(graded.score)} points"
    yield click.style(page.row(f"{exercise.number} {exercise.title}", score), bold=True)
    if every:
        for row in graded.checks:
            yield from page.check(row)
            yield from page.message(row)
            yield from page.mistake(graded) if row is told.cause else ()
            yield from page.measured(row, exercise.counters.get(row.check.id, {}))
    else:
        yield from _in_short(page, told, graded)
    yield from page.output(graded)
    for note in exercise_notes(graded):
        yield from page.wrapped(note, "  ")


def _in_short(page: _Page, told: Told, graded: GradedExercise) -> Iterator[str]:
    for line in in_short(told):
        first = line.rows[0]
        if line.text:
            yield from page.count(line.text, line.rows, _word(line.verdict) if line.verdict else " " * 7)
            continue
        yield from page.check(first)
        yield from page.message(first) if line.in_full else ()
        yield from page.mistake(graded) if first is told.cause else ()


def mistake_lines(graded: GradedExercise, width: int = WIDTH) -> Iterator[str]:
    """The known mistake that an exercise looks like, for whoever has read its checks already."""
    return _Page(width).mistake(graded)


def message_lines(row: GradedCheck, width: int = WIDTH) -> Iterator[str]:
    """What the student is told of a check, by itself."""
    page = _Page(width + len(_Page(width).indent))
    return (line.removeprefix(page.indent) for line in page.message(row))


def unread_lines(submission: Submission, width: int = WIDTH) -> Iterator[str]:
    """Files that look as if they were handed in and are not read, so that nobody mends the wrong one; and odd ones."""
    for id, notes in submission.notes.items():
        yield from _Page(width).wrapped(f"{id}: {'; '.join(notes)}", "")


def _typed(path: Path) -> str:
    """A path as it is typed from here."""
    return for_terminal(Path(os.path.relpath(path)).as_posix(), one_line=True)


def summary_lines(report: Report, width: int = WIDTH) -> Iterator[str]:
    """The table of the exercises, many that are not started in one row; the total, and what to do next."""
    page = _Page(width)
    waiting = [graded for graded in report.exercises if graded.state == "not_started"]
    if len(waiting) <= _MOST_WAITING:
        waiting = []
    yield "-" * width
    for graded in report.exercises:
        if not waiting or graded.state != "not_started":
            yield page.total(f"{graded.exercise.number} {graded.exercise.title}", state_text(graded), graded.score)
    if waiting:
        more = "more " if len(waiting) < len(report.exercises) else ""
        total = sum((graded.score for graded in waiting), Score(0, 0))
        yield page.total(f"{len(waiting)} {more}exercises:  grade list", state_text(waiting[0]), total)
    yield "-" * width
    for line in (*_total(report), *next_lines(report)):
        yield from page.wrapped(line, "")


def _total(report: Report) -> Iterator[str]:
    total = total_text(report)
    withheld = any(graded.withheld_points for graded in report.exercises)
    yield total if withheld else click.style(total, bold=True)
    yield from undecided_lines(report)


def _word(verdict: Verdict) -> str:
    word, colour = VERDICTS[verdict]
    return click.style(f"{word:<7}", fg=colour)


@dataclass(frozen=True)
class _Page:
    """Lines of a terminal that is so many columns wide, and how pictures are drawn on it."""

    width: int
    drawing: Drawing = ASCII

    @property
    def narrow(self) -> bool:
        """Whether a check takes a line for its points and more for its title."""
        return self.width < _NARROW

    @property
    def indent(self) -> str:
        """That of messages."""
        return " " * (4 if self.narrow else 10)

    def row(self, left: str, right: str) -> str:
        """Two texts at the two sides, the left one cut."""
        room = self.width - len(right) - 1
        left = cut(for_terminal(left, one_line=True), room)
        return f"{left}{' ' * (room - columns(left))} {right}".rstrip()

    def total(self, left: str, state: str, score: Score) -> str:
        """A row of the table: its state, where there is room, and its points."""
        points = f"{points_text(score.earned):>6} / {points_text(score.possible)}"
        return self.row(left, f"{points:<9}" if self.narrow else f"{state:<12} {points:<12}")

    def check(self, row: GradedCheck) -> Iterator[str]:
        """One check: its verdict as a word, its rule, its title, its points."""
        kind = hidden_text(row.check.shown)
        title, rule = for_terminal(row.check.title, one_line=True), for_terminal(row.check.contract, one_line=True)
        yield from self._cells(_word(row.outcome.verdict), rule, title, kind, (row,))

    def count(self, text: str, rows: Sequence[GradedCheck], word: str) -> Iterator[str]:
        """Several checks in one row: how many, on which rules, and their points together."""
        rules = rules_of(rows)
        yield from self._cells(word, "", f"{text} ({for_terminal(rules, one_line=True)})" if rules else text, "", rows)

    def _cells(self, word: str, rule: str, title: str, kind: str, rows: Sequence[GradedCheck]) -> Iterator[str]:
        points = score_text(together(rows))
        if self.narrow:
            yield f"  {word} {rule:<4}{points:>{self.width - 14}}"
            yield from self.wrapped(title + kind, self.indent)
            return
        start = f"{rule:<4}" if rule else ""
        room = self.width - 22 - len(start) - len(kind)
        title = cut(title, room) + kind
        yield f"  {word} {start}{title}{' ' * (room + len(kind) - columns(title))} {points:>11}"

    def measured(self, row: GradedCheck, reference: Mapping[str, int]) -> Iterator[str]:
        """What was counted and measured, in words; below it what was counted of the reference, where that is known."""
        for whose, counters in (("", row.outcome.counters), ("our own answer: ", reference)):
            if counts := counts_text(counters):
                yield from self.wrapped(whose + counts, self.indent)
        for found in row.speed:
            yield from self.wrapped(for_terminal(found.told), self.indent)

    def message(self, row: GradedCheck) -> Iterator[str]:
        """What the student is told of a check, with its picture, which takes the place of lines that say the same."""
        story, rest = _at_rule(row.outcome.message, row.check.contract)
        picture = row.outcome.picture
        if picture is not None and not self.drawing.plain:
            story = story.replace(f"\n{picture.said}", "") if picture.said else story
        yield from self._text(story)
        if picture is not None:
            drawn = lines_of(picture, self.width - len(self.indent), self.drawing)
            for line in drawn:
                safe = for_terminal(line, one_line=True)
                yield from self.wrapped(safe, self.indent) if len(drawn) == 1 else [f"{self.indent}{safe}"]
        yield from self._text(rest)

    def _text(self, text: str) -> Iterator[str]:
        for line in for_terminal(text).split("\n") if text else ():
            yield from self.wrapped(line, self.indent) if line else [""]

    def mistake(self, graded: GradedExercise) -> Iterator[str]:
        """The known mistake that the whole exercise looks like."""
        if told := mistake_text(graded):
            yield from self.wrapped(for_terminal(told, one_line=True), self.indent)

    def wrapped(self, line: str, indent: str) -> list[str]:
        """A long line wrapped under its own indentation; code is left alone, since a broken line would not run."""
        # A message's own indentation is kept, so that what belongs together stays in one column.
        own = indent + line[: len(line) - len(line.lstrip())]
        if len(indent) + columns(line) <= self.width or line.startswith("    "):
            return [indent + line]
        return list(filled(line.strip().split(" "), own, self.width))

    def output(self, graded: GradedExercise) -> Iterator[str]:
        """The beginning of what the student printed."""
        text = for_terminal(graded.output).rstrip("\n")
        if not text:
            return
        lines = text.split("\n")
        yield "  You printed:"
        for line in lines[:_MOST_OUTPUT_LINES]:
            yield f"    | {cut(line, self.width - 6)}"
        if len(lines) > _MOST_OUTPUT_LINES:
            yield f"    | ... {len(lines) - _MOST_OUTPUT_LINES} more lines"


def _at_rule(message: str, rule: str) -> tuple[str, str]:
    """A message in two: what went wrong; the rule, and what to try."""
    lines = message.split("\n")
    ends = (number for number, line in enumerate(lines) if not line or (rule and line.startswith(f"{rule}  ")))
    place = next(ends, len(lines))
    return "\n".join(lines[:place]), "\n".join(lines[place:])
