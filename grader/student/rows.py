"""Exercises with the student's state in them, and which of them comes next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from pathlib import Path

from grader.course.layout import progress_path
from grader.course.load import find_exercises, one_exercise
from grader.course.topics import read_topics
from grader.intake.collect import read_submission
from grader.model import Course, Exercise, Module
from grader.model.errors import CourseError
from grader.student import folder
from grader.student.folder import CourseProgress, ExerciseProgress

KNOWN = "known"


@dataclass(frozen=True)
class Row:
    """One exercise and the student's state in it.

    Attributes:
        exercise: the exercise.
        progress: the saved progress of the student in it.
        state: not_started, started, shown_pass, done, or known: not started, and the last one of its module is done.
        earned: hundredths of a point, of the last run.
        is_on_fast_track: True if it is on the fast track: the last one of its module.
    """

    exercise: Exercise
    progress: ExerciseProgress
    state: str = "not_started"
    earned: int = 0
    is_on_fast_track: bool = False

    @property
    def possible(self) -> int:
        """Hundredths of a point that the checks in this copy of the course are worth."""
        return self.exercise.points - self.exercise.withheld.points

    @property
    def is_open(self) -> bool:
        """Whether the exercise is not solved yet."""
        return self.state in ("not_started", "started")


def rows_of(course: Course, progress: CourseProgress | None = None) -> list[Row]:
    """Return a row for each exercise, in the course's order.

    The student's file decides whether an exercise is begun; if it is, its state and points are those of the last run.

    Args:
        course: the course.
        progress: the student's progress; by default the saved one.
    """
    progress = progress or folder.read_progress(course)
    return [row for module in course.modules for row in _rows_of_module(course, module, progress)]


def _rows_of_module(course: Course, module: Module, progress: CourseProgress) -> list[Row]:
    """Return the rows of the exercises in a module.

    Files of other modules are not read.
    """
    submission = read_submission(course.root, module.exercises, author="")
    mine = []
    for exercise in module.exercises:
        saved = progress.of(exercise.id)
        row = Row(exercise, saved, is_on_fast_track=exercise is module.exercises[-1])
        if (own := submission.files_of(exercise)).files and not own.untouched:
            begun = "started" if saved.state == "not_started" else saved.state
            row = replace(row, state=begun, earned=round(100 * saved.earned))
        mine.append(row)
    is_known = mine[-1:] and mine[-1].state == "done"
    return [replace(row, state=KNOWN) if is_known and row.state == "not_started" else row for row in mine]


def filter_rows(
    course: Course, rows: Sequence[Row], names: Collection[str], topic: str | None, states: Collection[str]
) -> list[Row]:
    """Return the rows of the exercises that match names, a topic and states.

    Args:
        course: the course.
        rows: the rows of all exercises.
        names: the names of exercises or modules; empty for all.
        topic: a topic's id, or some words of its name, such as "T22" or "stride"; None for all.
        states: the wanted states, with hyphens in place of underscores, such as "not-started"; empty for all.

    Raises:
        CourseError: there is no such exercise, module or topic.
    """
    wanted = ids_of(course, names, topic)
    return [row for row in rows if row.exercise.id in wanted and (not states or row.state.replace("_", "-") in states)]


def ids_of(course: Course, names: Collection[str], topic: str | None) -> set[str]:
    """Return the ids of the exercises that match names and a topic.

    Args:
        course: the course.
        names: the names of exercises or modules; empty for all.
        topic: a topic's id, or some words of its name, such as "T22" or "stride"; None for all.

    Raises:
        CourseError: there is no such exercise, module or topic.
    """
    exercises = [each for name in names for each in find_exercises(course, name)] if names else course.exercises
    topics = _topic_ids(course, topic) if topic else set()
    return {exercise.id for exercise in exercises if topic is None or topics & set(exercise.topics)}


def _topic_ids(course: Course, topic: str) -> set[str]:
    names, word = {id: row.name.casefold() for id, row in read_topics(course).items()}, topic.casefold()
    if topics := {id for id in names if id.casefold() == word} or {id for id in names if word in names[id]}:
        return topics
    raise CourseError(f"this course has no topic {topic!r}; give an id such as T22, or a word such as stride")


LoadModule = Callable[[Module], Module]
"""Returns a module with all of its exercises, of a course that may have only some."""


def unchanged_module(module: Module) -> Module:
    """Return the module itself.

    This is the default of each parameter `load_module`, for a course that has all exercises.
    """
    return module


def next_row(
    course: Course,
    start: str | None = None,
    progress: CourseProgress | None = None,
    load_module: LoadModule = unchanged_module,
) -> Row | None:
    """Return the row of the next open exercise; None if no exercise is open.

    The search begins at the exercise that was graded last. After the end of the course, it goes on at the beginning.

    Args:
        course: the course.
        start: the name of an exercise or a module to search from, in place of the last graded exercise; a row in
            the state `KNOWN` is then returned, too.
        progress: the student's progress; by default the saved one.
        load_module: a function that returns a module with all its exercises, as `course` may have only some of them.

    Raises:
        CourseError: there is no such exercise or module.
    """
    progress = progress or folder.read_progress(course)
    first = find_exercises(course, start)[0].id if start else progress.last
    # Round the course: what was left out on the way comes when the end is reached. The module of that exercise comes
    # last, too, with what stands before it. No module is read before it is reached: most often the first one has it.
    known = [{exercise.id for exercise in module.exercises} for module in course.modules]
    place = next((number for number, own in enumerate(known) if first in own), 0)
    modules = map(load_module, [*course.modules[place:], *course.modules[: place + 1]])
    rows: Iterator[Row] = (row for module in modules for row in _rows_of_module(course, module, progress))
    if known and first in known[place]:
        rows = dropwhile(lambda row: row.exercise.id != first, rows)
    return next((row for row in rows if row.is_open or (start and row.state == KNOWN)), None)


def named_or_next_exercise(course: Course, name: str | None) -> Exercise:
    """Return the exercise with this name; without a name, the one that `next_row` finds.

    Raises:
        CourseError: there is no such exercise, or all exercises are solved.
    """
    if name is not None:
        return one_exercise(course, name)
    row = next_row(course)
    if row is None:
        raise CourseError("you have solved all exercises; name one")
    return row.exercise


def solved_reference(course: Course, exercise: Exercise) -> Path:
    """Return the path of an exercise's reference, if the student has solved the exercise.

    Raises:
        CourseError: the exercise is not solved, or there is no reference.
    """
    if exercise.reference is None:
        raise CourseError(f"the reference of {exercise.id} is not in this copy of the course")
    if not folder.read_progress(course).of(exercise.id).solved:
        where = progress_path(course).relative_to(course.root).as_posix()
        raise CourseError(
            f"the solutions are shown once you have full marks for {exercise.id} (recorded in {where}). Until then:  "
            f"grade hint {exercise.id}"
        )
    return exercise.reference
