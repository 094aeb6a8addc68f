"""Two pages about a course, in Markdown: a map for everyone, and for staff what students read of each wrong answer."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import click

from grader.author.cases import Case
from grader.course.answers import read_answer
from grader.course.layout import page_of
from grader.course.topics import Coverage
from grader.grading.lanes import Lanes
from grader.grading.schedule import schedule
from grader.model import Course, Exercise
from grader.model.messages import Setup
from grader.report.safe import for_terminal
from grader.report.terminal import exercise_lines

_WIDTH = 118


def map_page(course: Course, coverage: Coverage) -> Iterator[str]:
    """The lines of a map: modules with their exercises, what each needs, the fast track, topics and their places."""
    numbers = {exercise.id: exercise.number for exercise in course.exercises}
    yield from _filled(f"# {_plain(course.title)}: the map", "Written by `grade pages`.")
    if minutes := sum(exercise.minutes or 0 for exercise in course.exercises):
        yield from _filled(f"All of it takes about {_time(minutes)}.")
    for module in course.modules:
        yield from _filled(f"## {_plain(module.title)}", f"Page: `{page_of(module.id).as_posix()}`")
        yield "| exercise | kind | difficulty | needs | time |"
        yield "|---|---|---|---|---|"
        for exercise in module.exercises:
            needs = ", ".join(numbers[id] for id in exercise.needs)
            name = f"{exercise.number} {_plain(exercise.title)}"
            yield f"| {name} | {exercise.kind} | {exercise.difficulty} | {needs} | {_time(exercise.minutes)} |"
        yield ""
    last = [module.exercises[-1] for module in course.modules if module.exercises]
    track = ", ".join(exercise.number for exercise in last)
    yield from _filled(
        "## Fast track", f"Whoever solves the last exercise of a module may take the module as known: {track}."
    )
    if coverage.topics:
        documents = dict.fromkeys(name for topic in coverage.topics.values() for name in topic.documents)
        yield from _filled("## Topics", "How many topics of each document an exercise teaches, how many only a page.")
        yield "| document | exercise | page only | nowhere |"
        yield "|---|---|---|---|"
        for document in (*documents, ""):
            yield f"| {_plain(document) or 'all'} | {' | '.join(map(str, coverage.counted(document)))} |"
        yield ""
        yield "| topic | where |"
        yield "|---|---|"
        for id, topic in coverage.topics.items():
            yield f"| {id} {_plain(topic.name)} | {coverage.places(id) or '-'} |"


def messages_page(course: Course, exercises: Sequence[Exercise], setup: Setup, lanes: Lanes) -> Iterator[str]:
    """The lines of a page that shows, for each known wrong answer, its sentence and what a student reads.

    Args:
        course: the whole course.
        exercises: those to show, in order.
        setup: how the answers are run.
        lanes: that have the exercises.
    """
    cases = [Case(item, "wrong", read_answer(item, path), 0) for item in exercises for path in item.wrong]
    works = {case.work(course, setup, with_tries=True): case for case in cases}
    results = {works[one.work]: one.graded for one in schedule(works, lanes)}  # the last of each is final
    yield from _filled("# What students read", "For staff, as it describes hidden checks. Written by `grade pages`.")
    for exercise in exercises:
        yield from _filled(f"## {exercise.number} {_plain(exercise.title)}")
        for case in (case for case in cases if case.exercise is exercise):
            yield from _filled(f"### {case.answer.path.stem}", case.answer.sentence)
            yield "```text"
            for line in exercise_lines(results[case]):
                yield click.unstyle(line).replace("```", "'''")
            yield "```"
            yield ""


def _filled(*paragraphs: str) -> Iterator[str]:
    """Paragraphs with an empty line after each."""
    for paragraph in paragraphs:
        yield from textwrap.wrap(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False)
        yield ""


def _plain(text: str) -> str:
    """A text of a course that cannot end a cell of a table."""
    return for_terminal(text, one_line=True).replace("|", "/")


def _time(minutes: int | None) -> str:
    """Minutes as hours and minutes; "" if the course does not say."""
    if minutes is None:
        return ""
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
