"""How far a student is, and which exercise comes next.

One file has the last run, failed tries and hints of each exercise. It never stops a command: a
damaged file is replaced, and if none can be written, a sentence says so.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, NonNegativeInt

from grader.course.layout import kept_folder, kept_progress
from grader.course.load import find_exercises, one_exercise
from grader.course.topics import read_topics
from grader.intake.collect import read_submission
from grader.model import Course, Exercise, GradedExercise, Report
from grader.model.errors import CourseError, FormatError
from grader.model.files import write_whole
from grader.model.score import in_points
from grader.model.typed import from_json, to_json

KNOWN = "known"
_VERSION = 1


def _hundredths(points: object) -> object:
    return round(100 * points) if isinstance(points, int | float) and math.isfinite(points) else points


@dataclass(frozen=True)
class Standing:
    """A student's state in one exercise.

    Attributes:
        state: of the last run, as in a report.
        earned: hundredths of a point, likewise; in the file it is in points.
        solved: whether some run had full marks.
        tries: runs that lost points, since the last that did not.
        hints: how many were shown.
    """

    state: Annotated[str, Field(pattern="^(not_started|started|done)$")] = "not_started"
    earned: Annotated[int, BeforeValidator(_hundredths)] = 0
    solved: bool = False
    tries: NonNegativeInt = 0
    hints: NonNegativeInt = 0


@dataclass(frozen=True)
class _Saved:
    last: str
    exercises: Mapping[str, Standing]


@dataclass(frozen=True)
class Progress:
    """A student's state in a course.

    Attributes:
        standings: by exercise id; there may be none.
        last: the exercise that was graded last by itself, or "".
        problem: why the file could not be read, or "".
    """

    standings: Mapping[str, Standing] = field(default_factory=dict)
    last: str = ""
    problem: str = ""

    def of(self, id: str) -> Standing:
        """The state in one exercise."""
        return self.standings.get(id, Standing())

    def with_(self, id: str, standing: Standing) -> Progress:
        """The same with one exercise changed."""
        return replace(self, standings={**self.standings, id: standing})

    def after(self, report: Report) -> Progress:
        """The same after a run."""
        now = self
        for graded in report.exercises:
            before = now.of(graded.exercise.id)
            if graded.state != "not_started" or before != Standing():
                now = now.with_(graded.exercise.id, _after(before, graded))
        ran = [graded.exercise.id for graded in report.exercises if graded.checks]
        return replace(now, last=ran[0]) if len(ran) == 1 else now


def _after(before: Standing, graded: GradedExercise) -> Standing:
    lost = graded.score.earned + graded.score.undecided < graded.score.possible
    tries = before.tries + (graded.state == "started" and lost)
    if graded.left_out:
        # Only some checks ran: that is a try, but it does not show the state of the exercise.
        return replace(before, tries=tries)
    done = graded.state == "done"
    return Standing(graded.state, graded.score.earned, before.solved or done, 0 if done else tries, before.hints)


def read_progress(course: Course) -> Progress:
    """The saved progress; an empty one if it cannot be read."""
    path = kept_progress(course)
    try:
        saved = from_json(_Saved, path.read_bytes())
        return Progress(saved.exercises, saved.last)
    except FileNotFoundError:
        return Progress()
    except OSError as error:
        return Progress(problem=f"your progress cannot be read: {error.strerror}")
    except FormatError:
        where = path.relative_to(course.root).as_posix()
        return Progress(problem=f"{where} was damaged, so your progress starts from zero")


def write_progress(course: Course, progress: Progress) -> str:
    """Save it, in one step; a sentence if that is not possible, else ""."""
    path = kept_progress(course)
    rows = {id: {**vars(row), "earned": in_points(row.earned)} for id, row in progress.standings.items()}
    saved = {"version": _VERSION, "last": progress.last, "exercises": rows}
    try:
        ready_folder(course.root)
        write_whole(path, to_json(saved, indent=1) + b"\n")
    except OSError as error:
        return f"your progress is not saved: {error.strerror} ({path.relative_to(course.root).as_posix()})"
    return ""


def ready_folder(root: Path) -> Path:
    """Make the folder for what belongs to the student alone, which git ignores.

    Raises:
        OSError: it cannot be made.
    """
    folder = kept_folder(root)
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="ascii")
    return folder


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
    state: str
    earned: int
    fast: bool


def rows_of(course: Course, progress: Progress) -> list[Row]:
    """A row for each exercise, in order. Its file shows whether it was begun, the last run how far it is."""
    files = read_submission(course.root, course.exercises, author="")
    rows = []
    for module in course.modules:
        mine = []
        for exercise in module.exercises:
            standing, fast = progress.of(exercise.id), exercise is module.exercises[-1]
            if exercise.id not in files.files or exercise.id in files.untouched:
                mine.append(Row(exercise, "not_started", 0, fast))
            else:
                begun = standing.state if standing.state != "not_started" else "started"
                mine.append(Row(exercise, begun, standing.earned, fast))
        if mine and mine[-1].state == "done":
            mine = [Row(row.exercise, KNOWN, 0, row.fast) if row.state == "not_started" else row for row in mine]
        rows += mine
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
    known = read_topics(course)
    word = topic.casefold()
    topics = {id for id, row in known.items() if id.casefold() == word}
    topics = topics or {id for id, row in known.items() if word in row.name.casefold()}
    if not topics:
        raise CourseError(f"this course has no topic {topic!r}; give an id such as T22, or a word such as stride")
    return topics


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
    open_ = ("not_started", "started", KNOWN) if start else ("not_started", "started")
    return next((row for row in ahead if row.state in open_), None)


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
