"""`grade show`: the task of an exercise."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from grader.course.answers import read_answer, without_staff_lines
from grader.course.layout import is_entry
from grader.course.load import join_rule_lines
from grader.course.marks import caps_text, declared_checks
from grader.model import Exercise
from grader.model.errors import CourseError
from grader.model.score import points_text
from grader.report.blocks import coloured_code
from grader.report.pictures import lines_of
from grader.report.safe import for_terminal, prose, two_sided_lines, wrap
from grader.student.folder import typed_path

_RULE = re.compile(r"C[0-9]+[.:)]?\s+")
_PARAGRAPH = re.compile(
    rf"^{_RULE.pattern}.*(\n(?!{_RULE.pattern}| *>>>| *$).+)*"  # a rule goes on in lines that stand further in
    rf"|^[^ \n].*(\n(?!{_RULE.pattern}| *>>>| |$).+)*|^.*$",
    re.MULTILINE,
)


def show_lines(exercise: Exercise, width: int, *, rules: bool = False, plain: bool = False) -> Iterator[str]:
    """Yield the lines of `grade show`: heading, task and picture of an exercise.

    Args:
        exercise: the exercise.
        width: columns of the terminal.
        rules: True if the costs of broken rules, and the checks that the student can read, are shown, too.
        plain: True if a sentence replaces the picture.

    Raises:
        CourseError: the exercise's file is missing, or has lost its task.
    """
    if not exercise.task:
        shown = typed_path(exercise.starter)
        remedy = f"To restore the starter:  grade reset {exercise.id}"
        raise CourseError(f"{shown} is missing, or has lost its task. {remedy}")
    yield from heading_lines(exercise, width)
    yield ""
    yield from _task_lines(exercise.task, exercise.title, width)
    if exercise.example is not None:
        yield ""
        yield from lines_of(exercise.example, width, plain=plain)
    if rules:
        yield from _rules_lines(exercise, width)


def _rules_lines(exercise: Exercise, width: int) -> Iterator[str]:
    # In a copy the task has these sentences, made of all checks; some of the checks are not here.
    if not exercise.withheld.checks and (text := caps_text(exercise)) and text not in " ".join(exercise.task.split()):
        yield from ("", *prose(f"Where marks are given: {text[0].lower()}{text[1:]}", width))
    if exercise.shown_checks is not None:
        yield from ("", "Checks that you can read:", f"  {typed_path(exercise.shown_checks)}")
        for _, rule, title in declared_checks(exercise.shown_checks):
            yield from wrap(f"{rule:<4}{for_terminal(title, one_line=True)}", "  ", width, "    ")
        if exercise.hidden_checks is not None:
            yield from prose("Hidden checks examine the same rules on other inputs.", width)


def heading_lines(exercise: Exercise, width: int) -> Iterator[str]:
    """Yield the heading of an exercise: number and title in bold, then facts and the path.

    The facts are such as "fix, difficulty 1 of 4, about 5 minutes, 10 points".
    """
    title = f"{exercise.number} {for_terminal(exercise.title, one_line=True)}"
    yield from (click.style(line, bold=True) for line in two_sided_lines(title, "", width))
    minutes = f", about {exercise.minutes} minutes" if exercise.minutes else ""
    points = points_text(exercise.points)
    facts = f"{exercise.kind}, difficulty {exercise.difficulty} of 4{minutes}, {points} points"
    yield from (f"  {line}" for line in prose(facts, width - 2))
    yield f"  {typed_path(exercise.starter)}"


def _task_lines(doc: str, title: str, width: int) -> Iterator[str]:
    """Yield the text of a task, wrapped to a width; examples in it stay as they are."""
    text = for_terminal(doc).rstrip()
    first, _, rest = text.partition("\n")
    text = rest if first.strip() == title else text  # the title stands above
    for lines in (match[0] for match in _PARAGRAPH.finditer(text.lstrip("\n"))):
        if not lines.strip() or lines.startswith(" "):
            yield lines.rstrip()
        elif head := _RULE.match(lines):
            first, *more = join_rule_lines(lines[head.end() :], head.end()).split("\n")
            yield from wrap(f"{head[0]}{first}", "", width, "    ")
            for line in more:  # a row of a matrix or of code stays as it is, and an item of a list is wrapped
                yield from [line] if line.startswith("     ") else wrap(line.strip(), "    ", width)
        else:
            yield from wrap(" ".join(line.strip() for line in lines.split("\n")), "", width, "")


def solution_lines(exercise: Exercise, *, colours: bool = False) -> Iterator[str]:
    """Yield the code of the reference and of the other right answers.

    Args:
        exercise: an exercise with a reference.
        colours: True to colour the code.
    """
    assert exercise.reference is not None
    for number, path in enumerate((exercise.reference, *exercise.right)):
        answer = read_answer(exercise, path)
        text = for_terminal(without_staff_lines(answer.source.decode("utf-8"))).strip("\n")
        if is_entry(path):
            text = f"# {answer.sentence}\n{text}"
        title = "The reference" if number == 0 else f"Another right solution: {path.stem}"
        lines = text.split("\n")
        lines = coloured_code(lines) if colours else lines
        yield from ("", click.style(title, bold=True), *(f"    {line}".rstrip() for line in lines))
