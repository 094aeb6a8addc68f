"""The exercises of a course with where a student stands, and which of them comes next."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from grader.course.names import find_exercises
from grader.course.topics import read_topics
from grader.grading.grade import is_untouched
from grader.intake.collect import read_submission
from grader.model import Course, Exercise
from grader.model.errors import CourseError
from grader.student.progress import STATES, Progress

KNOWN = "known"
FILTERS = (*(state.replace("_", "-") for state in STATES), KNOWN)
"""States as they are typed."""


@dataclass(frozen=True)
class Row:
    """One exercise and where the student stands.

    Attributes:
        exercise: the exercise.
        state: not_started, started, done, or known: not started, and the last one of its module is done.
        earned: hundredths of a point, of the last run.
        fast: whether it is on the fast track: the last one of its module.
    """

    exercise: Exercise
    state: str
    earned: int
    fast: bool


def rows_of(course: Course, progress: Progress) -> list[Row]:
    """A row for each exercise, in order. Whether one was begun is seen by its file, and the rest by the last run."""
    files = read_submission(course.root, course.exercises, author="")
    rows = []
    for module in course.modules:
        found = []
        for exercise in module.exercises:
            standing, fast = progress.of(exercise.id), exercise is module.exercises[-1]
            if exercise.id not in files.files or is_untouched(exercise, files):
                found.append(Row(exercise, "not_started", 0, fast))
            else:
                begun = standing.state if standing.state != "not_started" else "started"
                found.append(Row(exercise, begun, standing.earned, fast))
        if found and found[-1].state == "done":
            found = [Row(row.exercise, KNOWN, 0, row.fast) if row.state == "not_started" else row for row in found]
        rows += found
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
        states: as they are typed; none for all.

    Raises:
        CourseError: a name or a topic means nothing.
    """
    wanted = {exercise.id for name in names for exercise in find_exercises(course, name)}
    topics = _topics(course, topic) if topic else set()
    typed = {state.replace("-", "_") for state in states}
    return [
        row
        for row in rows
        if (not names or row.exercise.id in wanted)
        and (topic is None or topics & set(row.exercise.topics))
        and (not typed or row.state in typed)
    ]


def _topics(course: Course, topic: str) -> set[str]:
    known = read_topics(course)
    word = topic.casefold()
    found = {id for id, row in known.items() if id.casefold() == word}
    found = found or {id for id, row in known.items() if word in row.name.casefold()}
    if not found:
        raise CourseError(f"no topic of this course is {topic!r}; say an id such as T22, or a word such as stride")
    return found


def next_row(course: Course, rows: Sequence[Row], progress: Progress, start: str | None = None) -> Row | None:
    """What to do next: the exercise in hand until it is solved, then the first unsolved one after it; None for none.

    Args:
        course: the course.
        rows: all of them, in order.
        progress: which tells what is in hand.
        start: an exercise or a module to go on from instead.

    Raises:
        CourseError: `start` means nothing.
    """
    ids = [row.exercise.id for row in rows]
    first = find_exercises(course, start)[0].id if start else progress.last
    place = ids.index(first) if first in ids else 0
    # Round the course: what was left out on the way comes when the end is reached.
    ahead = [*rows[place:], *rows[:place]]
    open_ = ("not_started", "started", KNOWN) if start else ("not_started", "started")
    return next((row for row in ahead if row.state in open_), None)
