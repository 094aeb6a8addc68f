"""The exercises of a course with a student's state in each: which comes next, and `grade list`, `next` and `show`.

Lines have 40 to 80 columns, and are readable without colour.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from grader.course.layout import Places, kept_progress
from grader.course.load import find_exercises, one_exercise
from grader.course.topics import read_topics
from grader.intake.collect import read_submission
from grader.model import Course, Exercise
from grader.model.errors import CourseError
from grader.model.score import in_points, points_text
from grader.report.pictures import lines_of
from grader.report.safe import filled, for_terminal, prose, two_sides
from grader.student.folder import Progress, Standing, read_progress, typed

KNOWN = "known"
_NARROW = 64
_RULE = re.compile(r"C[0-9]+[.:)]?\s+")
_PARAGRAPH = re.compile(
    rf"^{_RULE.pattern}.*(\n(?!{_RULE.pattern}| *>>>| *$).+)*"  # a rule goes on in lines that stand further in
    rf"|^[^ \n].*(\n(?!{_RULE.pattern}| *>>>| |$).+)*|^.*$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Row:
    """One exercise and the student's state in it.

    Attributes:
        exercise: the exercise.
        state: not_started, started, done, or known: not started, and the last one of its module is done.
        earned: hundredths of a point, of the last run.
        fast: whether it is on the fast track: the last one of its module.
    """

    exercise: Exercise
    state: str = "not_started"
    earned: int = 0
    fast: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it is still to be solved."""
        return self.state in ("not_started", "started")


def rows_of(course: Course, progress: Progress) -> list[Row]:
    """A row for each exercise, in order. Its file shows whether it was begun, the last run how far it is."""
    submission = read_submission(course.root, course.exercises, author="")
    rows = []
    for module in course.modules:
        mine = []
        for exercise in module.exercises:
            standing, row = progress.of(exercise.id), Row(exercise, fast=exercise is module.exercises[-1])
            if (own := submission.of(exercise)).files and not own.untouched:
                begun = "started" if standing.state == "not_started" else standing.state
                row = replace(row, state=begun, earned=round(100 * standing.earned))
            mine.append(row)
        is_known = mine[-1:] and mine[-1].state == "done"
        rows += [replace(row, state=KNOWN) if is_known and row.state == "not_started" else row for row in mine]
    return rows


def chosen(
    course: Course, rows: Sequence[Row], names: Collection[str], topic: str | None, states: Collection[str]
) -> list[Row]:
    """Those of the given names, of a topic, in one of the states.

    Args:
        course: the course.
        rows: all of them.
        names: of exercises or modules; none for all.
        topic: a topic's id, or some words of its name.
        states: with a hyphen, as they are typed; none for all.

    Raises:
        CourseError: there is no such exercise, module or topic.
    """
    wanted = {exercise.id for name in names for exercise in find_exercises(course, name)}
    topics = _topics(course, topic) if topic else set()
    return [
        row
        for row in rows
        if (not names or row.exercise.id in wanted)
        and (topic is None or topics & set(row.exercise.topics))
        and (not states or row.state.replace("_", "-") in states)
    ]


def _topics(course: Course, topic: str) -> set[str]:
    names, word = {id: row.name.casefold() for id, row in read_topics(course).items()}, topic.casefold()
    if topics := {id for id in names if id.casefold() == word} or {id for id in names if word in names[id]}:
        return topics
    raise CourseError(f"this course has no topic {topic!r}; give an id such as T22, or a word such as stride")


def next_row(course: Course, rows: Sequence[Row], progress: Progress, start: str | None = None) -> Row | None:
    """What to do next: the exercise in hand until it is solved, then the first unsolved one after it; None for none.

    Args:
        course: the course.
        rows: all of them, in order.
        progress: which exercise was graded last.
        start: an exercise or a module to go on from instead.

    Raises:
        CourseError: there is no such exercise or module.
    """
    ids = [row.exercise.id for row in rows]
    first = find_exercises(course, start)[0].id if start else progress.last
    place = ids.index(first) if first in ids else 0
    # Round the course: what was left out on the way comes when the end is reached.
    ahead = [*rows[place:], *rows[:place]]
    return next((row for row in ahead if row.is_open or (start and row.state == KNOWN)), None)


def exercise_in_hand(course: Course, name: str | None) -> Exercise:
    """The exercise of a name, or the one that comes next.

    Raises:
        CourseError: there is no such exercise, or nothing left to solve.
    """
    if name is not None:
        return one_exercise(course, name)
    progress = read_progress(course)
    row = next_row(course, rows_of(course, progress), progress)
    if row is None:
        raise CourseError("you have solved all exercises; name one")
    return row.exercise


def solved_reference(course: Course, exercise: Exercise) -> Path:
    """The reference of an exercise that the student has solved.

    Raises:
        CourseError: it is not solved, or there is no reference.
    """
    if exercise.reference is None:
        raise CourseError(f"the reference of {exercise.id} is not in this copy of the course")
    if not read_progress(course).of(exercise.id).solved:
        where = kept_progress(course).relative_to(course.root).as_posix()
        raise CourseError(
            f"the solutions are shown once you have full marks for {exercise.id} (recorded in {where}). Until then:  "
            f"grade hint {exercise.id}"
        )
    return exercise.reference


# -- lines


def list_lines(course: Course, rows: Sequence[Row], width: int) -> Iterator[str]:
    """The chosen exercises below their modules, with state and points; then the totals."""
    for module in course.modules:
        mine = [row for row in rows if row.exercise.module == module.id]
        if mine:
            yield from (click.style(line, bold=True) for line in two_sides(module.title, "", width))
            for row in mine:
                yield from _list_row(row, width)
    earned, possible = sum(row.earned for row in rows), sum(row.exercise.points for row in rows)
    done = sum(row.state == "done" for row in rows)
    yield f"{done} of {len(rows)} done, {points_text(earned)} / {points_text(possible)} points"
    if any(row.fast for row in rows):
        yield from prose("* fast track: if you solve this one, you may skip the rest of its module", width)


def _list_row(row: Row, width: int) -> list[str]:
    exercise, state = row.exercise, row.state.replace("_", " ")
    points = f"{points_text(row.earned)} / {points_text(exercise.points)}"
    left = f"  {exercise.number:<5} {'*' if row.fast else ' '} {for_terminal(exercise.title, one_line=True)}"
    if width < _NARROW:
        return [*two_sides(left, "", width), f"          {state:<12}{points:>{width - 22}}"]
    minutes = f"{exercise.minutes} min" if exercise.minutes else ""
    return two_sides(left, f"{state:<12}{points:>12}{minutes:>9}", width)


def list_data(course: Course, rows: Sequence[Row], progress: Progress) -> dict[str, Any]:
    """The same for other programs."""
    return {"course": course.title, "exercises": [_row_data(row, progress.of(row.exercise.id)) for row in rows]}


def _row_data(row: Row, standing: Standing) -> dict[str, Any]:
    exercise = row.exercise
    return {
        "id": exercise.id,
        "number": exercise.number,
        "title": exercise.title,
        "module": exercise.module,
        "state": row.state,
        "earned": in_points(row.earned),
        "possible": in_points(exercise.points),
        "solved": standing.solved,
        "tries": standing.tries,
        "hints": standing.hints,
        "fast_track": row.fast,
        "difficulty": exercise.difficulty,
        "minutes": exercise.minutes,
        "topics": list(exercise.topics),
        "path": Places.of(exercise).starter.as_posix(),
    }


def next_lines(row: Row, width: int) -> Iterator[str]:
    """What to do next: which exercise, where it is, which commands."""
    exercise = row.exercise
    yield from _head(exercise, width)
    verb = "Continue with it" if row.state == "started" else "Read the task at its top, change what is marked TODO"
    yield from prose(f"{verb}, save, then run", width)
    yield f"  grade {exercise.id}"
    yield from prose("To open the file:  grade open", width)


def show_lines(exercise: Exercise, width: int, *, plain: bool = False) -> Iterator[str]:
    """A task: its text, where it is, how hard it is, how long it takes, a picture, the checks that the student has.

    Raises:
        CourseError: its text is lost.
    """
    if not exercise.task:
        shown = typed(exercise.starter)
        remedy = f"To restore the starter:  grade reset {exercise.id}"
        raise CourseError(f"{shown} is missing, or has lost its task. {remedy}")
    yield from _head(exercise, width)
    yield ""
    yield from _task(exercise.task, exercise.title, width)
    if exercise.example is not None:
        yield ""
        yield from lines_of(exercise.example, width, plain=plain)
    if exercise.shown_checks is not None:
        yield from ("", "Checks that you can read:", f"  {typed(exercise.shown_checks)}")
        if exercise.hidden_checks is not None:
            yield from prose("Hidden checks examine the same rules on other inputs.", width)


def _head(exercise: Exercise, width: int) -> Iterator[str]:
    title = f"{exercise.number} {for_terminal(exercise.title, one_line=True)}"
    yield from (click.style(line, bold=True) for line in two_sides(title, "", width))
    minutes = f", about {exercise.minutes} minutes" if exercise.minutes else ""
    points = points_text(exercise.points)
    facts = f"{exercise.kind}, difficulty {exercise.difficulty} of 4{minutes}, {points} points"
    yield from (f"  {line}" for line in prose(facts, width - 2))
    yield f"  {typed(exercise.starter)}"


def _task(doc: str, title: str, width: int) -> Iterator[str]:
    """The text of a task, in lines of this width; examples are left alone."""
    text = for_terminal(doc).rstrip()
    first, _, rest = text.partition("\n")
    text = rest if first.strip() == title else text  # the title stands above
    for lines in (match[0] for match in _PARAGRAPH.finditer(text.lstrip("\n"))):
        if not lines.strip() or lines.startswith(" "):
            yield lines.rstrip()
        else:
            text = " ".join(line.strip() for line in lines.split("\n"))
            yield from filled(text, "", width, "    " if _RULE.match(lines) else "")
