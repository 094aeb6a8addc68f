"""A report for a terminal: 40 to 80 columns, ASCII of our own, readable without colour."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from grader.course.layout import Places
from grader.model import GradedCheck, GradedExercise, Report, Score, Submission, Verdict
from grader.model.score import points_text
from grader.picture.cards import COUNTED
from grader.picture.draw import lines_of
from grader.picture.drawing import ASCII, Drawing
from grader.report.causes import Told
from grader.report.lines import WIDTH, cut, filled
from grader.report.safe import columns, for_terminal

_WORDS = {
    Verdict.PASSED: ("pass", "green"),
    Verdict.FAILED: ("FAIL", "red"),
    Verdict.CRASHED: ("CRASH", "red"),
    Verdict.TIMED_OUT: ("TIME", "red"),
    Verdict.OVER_LIMIT: ("LIMIT", "red"),
    Verdict.SKIPPED: ("skip", "yellow"),
    Verdict.NOT_RUN: ("not run", "cyan"),
    Verdict.INCONCLUSIVE: ("unsure", "cyan"),
    Verdict.BROKEN: ("BROKEN", "magenta"),
}
_MOST_OUTPUT_LINES = 12
_NARROW = 64


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
    score = f"{points_text(graded.score.earned)} / {points_text(graded.score.possible)} points"
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
    if graded.left_out:
        ran = len(graded.checks)
        yield from page.wrapped(f"{ran} of {ran + len(graded.left_out)} checks run.", "  ")
    if graded.withheld_points:
        checks, points = exercise.withheld.checks, points_text(graded.withheld_points)
        yield from page.wrapped(f"{checks} more checks decide {points} points when you hand in.", "  ")
    if broken := sum(row.outcome.verdict is Verdict.BROKEN for row in graded.checks):
        text = f"{broken} of our own checks are broken; their points are not lost. Tell your instructor."
        yield from page.wrapped(text, "  ")


def _in_short(page: _Page, told: Told, graded: GradedExercise) -> Iterator[str]:
    # One message at a time: the next thing to mend, not a wall of text.
    if told.cause is not None:
        yield from page.check(told.cause)
        yield from page.message(told.cause)
        yield from page.mistake(graded)
    if told.same:
        one = len(told.same) == 1
        yield from page.count(f"{len(told.same)} more {'check stops' if one else 'checks stop'} at this", told.same)
    for row in told.lost:
        yield from page.check(row)
    for number, row in enumerate(told.open):
        yield from page.check(row)
        if told.cause is None and number == 0:
            yield from page.message(row)
    if told.passed:
        word = click.style(f"{_WORDS[Verdict.PASSED][0]:<7}", fg=_WORDS[Verdict.PASSED][1])
        yield from page.count(f"{len(told.passed)} {'check' if len(told.passed) == 1 else 'checks'}", told.passed, word)


def mistake_lines(graded: GradedExercise, width: int = WIDTH) -> Iterator[str]:
    """The known mistake that an exercise looks like, for whoever has read its checks already."""
    return _Page(width).mistake(graded)


def unread_lines(submission: Submission, width: int = WIDTH) -> Iterator[str]:
    """Files that look as if they were handed in and are not read, so that nobody mends the wrong one."""
    for id, others in submission.unread.items():
        names = " and ".join(_typed(path) for path in others)
        yield from _Page(width).wrapped(f"{_typed(submission.paths[id])} is graded; {names} is not read", "")


def _typed(path: Path) -> str:
    """A path as it is typed from here."""
    return for_terminal(Path(os.path.relpath(path)).as_posix(), one_line=True)


def summary_lines(report: Report, width: int = WIDTH) -> Iterator[str]:
    """The table of all exercises, the total, and what to do next."""
    page = _Page(width)
    yield "-" * width
    for graded in report.exercises:
        score = f"{points_text(graded.score.earned):>6} / {points_text(graded.score.possible)}"
        right = f"{score:<9}" if page.narrow else f"{_state(graded):<12} {score:<12}"
        yield page.row(f"{graded.exercise.number} {graded.exercise.title}", right)
    yield "-" * width
    for line in (*_total(report), *_next(report)):
        yield from page.wrapped(line, "")


def _total(report: Report) -> Iterator[str]:
    rows = [row for graded in report.exercises for row in graded.checks]
    total = report.score
    withheld = sum(graded.withheld_points for graded in report.exercises)
    if withheld:
        yield (
            f"shown {points_text(total.earned)} / {points_text(total.possible - withheld)} points; "
            f"{points_text(withheld)} more are decided by hidden checks when you hand in"
        )
    else:
        yield click.style(f"{points_text(total.earned)} / {points_text(total.possible)} points", bold=True)
    left_out = sum(graded.left_out_score.possible for graded in report.exercises)
    if left_out:
        yield f"{points_text(left_out)} of the points are decided by checks that were not to run this time"
    rest = total.undecided - withheld - left_out
    if rest > 0:
        kinds = sorted({row.outcome.verdict.value.replace("_", " ") for row in rows if row.score.undecided})
        yield f"{points_text(rest)} points are undecided ({', '.join(kinds)}): neither earned nor lost"


def _next(report: Report) -> Iterator[str]:
    lost = [
        graded for graded in report.exercises if graded.score.earned + graded.score.undecided < graded.score.possible
    ]
    started = [graded for graded in lost if graded.state == "started"]
    waiting = [graded for graded in report.exercises if graded.state == "not_started"]
    # What was begun comes before what is new.
    if started:
        yield f"Next: mend {started[0].exercise.id}, then run  grade {started[0].exercise.id}"
    elif waiting:
        exercise = waiting[0].exercise
        yield f"Next: {exercise.number} {exercise.title}. Open"
        yield f"      {Places.of(exercise).starter.as_posix()}"
    elif left_out := [graded.exercise.id for graded in report.exercises if graded.left_out]:
        yield f"What ran passed. For all checks:  grade {left_out[0]}"
    elif all(graded.state == "done" for graded in report.exercises):
        yield "All that could run here passed."


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

    def check(self, row: GradedCheck) -> Iterator[str]:
        """One check: its verdict as a word, its rule, its title, its points."""
        # The word says it all: colours are lost in a pipe, and to some readers.
        word, colour = _WORDS[row.outcome.verdict]
        kind = "" if row.check.shown else " (hidden)"
        title, rule = for_terminal(row.check.title, one_line=True), for_terminal(row.check.contract, one_line=True)
        yield from self._cells(click.style(f"{word:<7}", fg=colour), rule, title, kind, (row,))

    def count(self, text: str, rows: Sequence[GradedCheck], word: str = " " * 7) -> Iterator[str]:
        """Several checks in one row: how many, on which rules, and their points together."""
        rules = " ".join(sorted({row.check.contract for row in rows if row.check.contract}, key=_by_number))
        yield from self._cells(word, "", f"{text} ({for_terminal(rules, one_line=True)})" if rules else text, "", rows)

    def _cells(self, word: str, rule: str, title: str, kind: str, rows: Sequence[GradedCheck]) -> Iterator[str]:
        total = sum((row.score for row in rows), Score(0, 0))
        points = f"{points_text(total.earned)} / {points_text(total.possible)}"
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
            counts = [_count(name, number) for name, number in counters.items() if number]
            if counts:
                yield from self.wrapped(whose + ", ".join(counts), self.indent)
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
        if graded.diagnosis:
            sentence = for_terminal(graded.diagnosis, one_line=True)
            yield from self.wrapped(f"This looks like: {sentence}", self.indent)

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


def _by_number(rule: str) -> tuple[int, str]:
    return len(rule), rule  # C2 before C10


def _count(name: str, number: int) -> str:
    """A counter in words; names are ours."""
    one, many = COUNTED.get(name, (name, name))
    return f"{number:,} {one if number == 1 else many}"


def _state(graded: GradedExercise) -> str:
    return graded.state.replace("_", " ")
