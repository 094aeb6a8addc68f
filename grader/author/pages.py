"""Two pages about a course, in Markdown: a map for everyone, and for staff what students read of each wrong answer."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import click
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grader.author.cases import AnswerRun
from grader.course.answers import read_answer
from grader.course.layout import page_of
from grader.course.topics import Coverage
from grader.grading.runtime import Runtime
from grader.grading.schedule import schedule
from grader.model import Course, Exercise
from grader.model.messages import Setup
from grader.report.safe import for_terminal
from grader.report.terminal import exercise_lines

_WIDTH = 118


def map_page(course: Course, coverage: Coverage) -> str:
    """Return a Markdown page that shows what a course has.

    It has the modules and exercises, what each of them needs, the fast track, and the topics.
    """
    return _page(
        "course-map.md",
        course,
        coverage=coverage,
        documents=[*dict.fromkeys(name for topic in coverage.topics.values() for name in topic.documents), ""],
        minutes=sum(exercise.minutes or 0 for exercise in course.exercises),
        page_of=page_of,
        track=[module.exercises[-1].number for module in course.modules if module.exercises],
    )


def messages_page(course: Course, exercises: Sequence[Exercise], setup: Setup, runtime: Runtime) -> str:
    """Return a Markdown page about the known wrong answers of exercises.

    It has the sentence of each wrong answer, and the messages that a student reads.

    Args:
        course: the whole course.
        exercises: the exercises to show, in order.
        setup: the setup with which answers are run.
        runtime: a runtime whose lanes have the exercises.
    """
    cases = [AnswerRun(item, "wrong", read_answer(item, path), 0) for item in exercises for path in item.wrong]
    works = {case.work(course, setup, with_tries=True): case for case in cases}
    graded = {works[one.work]: one.graded for one in schedule(works, runtime)}  # the last of each is final
    lines = {
        case: [click.unstyle(line).replace("```", "'''") for line in exercise_lines(graded[case])] for case in cases
    }
    return _page("messages.md", course, exercises=exercises, results=lines.items())


def _page(template: str, course: Course, **words: object) -> str:
    # Markdown, in which nothing is escaped; the author of the course wrote all words.
    loader = FileSystemLoader(Path(__file__).with_name("templates"))
    templates = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True)  # noqa: S701
    numbers = {exercise.id: exercise.number for exercise in course.exercises}
    templates.filters |= {
        "filled": _fill_lines,
        "number": numbers.__getitem__,
        "plain": _cell_text,
        "time": _duration_text,
    }
    return templates.get_template(template).render(words, course=course).rstrip("\n") + "\n"


def _fill_lines(paragraph: str) -> str:
    return textwrap.fill(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _cell_text(text: str) -> str:
    """Return a text as the cell of a Markdown table: in one line, and without "|"."""
    return for_terminal(text, one_line=True).replace("|", "/")


def _duration_text(minutes: int | None) -> str:
    """Return minutes as text, such as "1 h 05 min"; "" for None.

    None means that the course does not say how long an exercise takes.
    """
    if minutes is None:
        return ""
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
