"""A report for a terminal: 40 to 80 columns, ASCII of our own but in pictures, readable without colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import click

from grader.model import GradedCheck, GradedExercise, Report, Score
from grader.model.report import first_lines, split_at_rule
from grader.model.score import points_text
from grader.report import words
from grader.report.pictures import lines_of
from grader.report.safe import WIDTH, column_count, for_terminal, shorten, two_sided_lines, wrap

_MOST_OUTPUT_LINES = 12
_NARROW = 64
_MOST_WAITING = 3
"""So many exercises that are not started have rows of their own in the table."""


def exercise_lines(
    graded: GradedExercise, width: int = WIDTH, *, every: bool = False, plain: bool = False, colours: bool = False
) -> Iterator[str]:
    """Yield the lines of an exercise: its checks, its output, and notes.

    The first failure of each function has its message, and other checks are shown in short.

    Args:
        graded: the exercise.
        width: columns of the terminal.
        every: True if each check is shown with its message, and with what was counted and measured.
        plain: True if a sentence stands for each picture.
        colours: True if wrong elements of a picture are red; if not, they stand between marks.
    """
    page, exercise = _Page(width, plain, colours), graded.exercise
    explained, told = list[GradedCheck](), list[str]()
    title = two_sided_lines(
        f"{exercise.number} {exercise.title}", f"{words.score_text(words.score_of_run_checks(graded))} points", width
    )
    yield from (click.style(line, bold=True) for line in title)
    for line in (
        (words.CheckLine((row,), in_full=True) for row in graded.checks) if every else words.condense(graded.checks)
    ):
        first = line.rows[0]
        yield from page.heading(line)
        if line.in_full:
            yield from page.message(first)
        if line.in_full and first.verdict.is_lost:
            texts = [text for text in words.mistake_texts(graded, first) if text not in told]
            told += texts
            explained.append(first)
            yield from page.mistakes(texts, page.indent)
        if every:
            for text in words.measured_lines(graded, first):
                yield from page.wrap_line(for_terminal(text), page.indent)
    yield from page.mistakes(words.other_mistakes(graded, explained), "  ")
    yield from page.output(graded)
    for note in words.exercise_notes(graded):
        yield from page.wrap_line(note, "  ")
    if not every and words.has_more_messages(graded):
        yield from page.wrap_line(f"To read all messages:  grade -v {exercise.id}", "  ")


def mistake_lines(graded: GradedExercise, width: int = WIDTH) -> Iterator[str]:
    """Yield the lines about known mistakes that are printed below all checks of an exercise."""
    return _Page(width).mistakes(words.other_mistakes(graded), "")


def message_lines(row: GradedCheck, width: int = WIDTH) -> Iterator[str]:
    """Yield the lines of a check's message, without indentation and without colours."""
    page = _Page(width + len(_Page(width).indent))
    return (click.unstyle(line).removeprefix(page.indent) for line in page.message(row))


def failure_lines(row: GradedCheck, width: int = WIDTH) -> Iterator[str]:
    """Yield the lines of a failure's message, without the rule and the lines to try."""
    story, _ = split_at_rule(row.outcome.message, row.check.contract)
    page = _Page(width)
    return (line for text in for_terminal(story).split("\n") for line in page.wrap_line(text, "  "))


def summary_lines(report: Report, width: int = WIDTH) -> Iterator[str]:
    """Yield the table of exercises, then the total and what to do next.

    More than three exercises that are not started share a row of the table.
    """
    page = _Page(width)
    waiting = [graded for graded in report.exercises if graded.state == "not_started"]
    if len(waiting) <= _MOST_WAITING:
        waiting = []
    yield "-" * width
    for graded in report.exercises:
        if not waiting or graded.state != "not_started":
            title = f"{graded.exercise.number} {graded.exercise.title}"
            yield from page.table_row(title, words.state_text(graded), words.score_of_run_checks(graded))
    if waiting:
        more = "more " if len(waiting) < len(report.exercises) else ""
        total = sum((words.score_of_run_checks(graded) for graded in waiting), Score(0, 0))
        yield from page.table_row(f"{len(waiting)} {more}exercises:  grade list", words.state_text(waiting[0]), total)
    yield "-" * width
    withheld = any(graded.withheld_points for graded in report.exercises)
    text = words.total_text(report)
    for line in (
        text if withheld else click.style(text, bold=True),
        *words.undecided_lines(report),
        *words.next_step_lines(report),
    ):
        yield from page.wrap_line(line, "")


@dataclass(frozen=True)
class _Page:
    """Makes the lines of a report for a terminal of this width; if `plain`, a sentence stands for each picture."""

    width: int
    plain: bool = False
    colours: bool = False

    @property
    def narrow(self) -> bool:
        """Return True if the terminal is so narrow that the title of a check goes below its points."""
        return self.width < _NARROW

    @property
    def indent(self) -> str:
        """Return the blanks before each line of a message."""
        return " " * (4 if self.narrow else 10)

    def table_row(self, left: str, state: str, score: Score) -> list[str]:
        """Return the lines of a row of the table: a title, a state where there is room, and points."""
        points = f"{points_text(score.earned):>6} / {points_text(score.possible)}"
        return two_sided_lines(left, f"{points:<9}" if self.narrow else f"{state:<12} {points:<12}", self.width)

    def heading(self, line: words.CheckLine) -> Iterator[str]:
        """Yield the lines above a check's message: verdict, rule, title and points.

        Several checks that share a row have one heading.
        """
        row, rules = line.rows[0], for_terminal(words.rules_text(line.rows), one_line=True)
        verdict = line.verdict if line.text else row.verdict
        word, colour = words.VERDICTS[verdict] if verdict else ("", None)
        head = f"  {click.style(f'{word:<7}', fg=colour)} "
        points = words.score_text(words.total_score(line.rows))
        if line.text:
            rule, title = "", f"{line.text} ({rules})" if rules else line.text
        else:
            rule = f"{rules:<4}" if rules else ""
            title = for_terminal(row.check.title, one_line=True) + words.hidden_suffix(row.check.shown)
        if self.narrow:
            yield f"{head}{rule:<4}{points:>{self.width - 14}}"
            yield from self.wrap_line(title, self.indent)
        else:
            yield from two_sided_lines(title, f"{points:>11}", self.width, head=head + rule)

    def message(self, row: GradedCheck) -> Iterator[str]:
        """Yield the lines of a check's message; its picture replaces the lines that show the same."""
        picture = row.outcome.picture
        message = row.outcome.message if self.plain else words.message_beside_picture(row.outcome)
        story, rest = split_at_rule(message, row.check.contract)
        yield from self._text_lines(story)
        if picture is not None:
            room = self.width - len(self.indent)
            for line in lines_of(picture, room, plain=self.plain, colours=self.colours):
                yield f"{self.indent}{line}"
        yield from self._text_lines(rest)

    def _text_lines(self, text: str) -> Iterator[str]:
        for line in for_terminal(text).split("\n") if text else ():
            yield from self.wrap_line(line, self.indent) if line else [""]

    def mistakes(self, texts: Sequence[str], indent: str) -> Iterator[str]:
        """Yield sentences about known mistakes in yellow, wrapped below an indentation."""
        for text in texts:
            for line in self.wrap_line(for_terminal(text, one_line=True), indent):
                yield click.style(line, fg="yellow")

    def wrap_line(self, line: str, indent: str) -> list[str]:
        """Wrap a long line under its own indentation.

        A line of code is not wrapped, since a broken line would not run.
        """
        # A message's own indentation stays, so that what belongs together stays in one column.
        own = indent + line[: len(line) - len(line.lstrip())]
        if len(indent) + column_count(line) <= self.width or line.startswith("    "):
            return [indent + line]
        return wrap(line.strip(), own, self.width)

    def output(self, graded: GradedExercise) -> Iterator[str]:
        """Yield the beginning of what the student printed, and the first warnings."""
        for title, text in (
            ("You printed:", words.printed_in(graded.output)),
            ("Your code caused warnings:", words.warnings_in(graded.output)),
        ):
            if shown := for_terminal(text).rstrip("\n"):
                yield f"  {title}"
                for line in first_lines(shown, _MOST_OUTPUT_LINES):
                    yield f"    | {shorten(line, self.width - 6)}"
