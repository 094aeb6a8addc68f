"""The course in the user's folder, and the exercises of it that a command is about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.printing import print_error

if TYPE_CHECKING:
    from grader.model import Broken, Course, Exercise, HandIn


def course_here(folder: Path | None = None, *, whole: bool = False) -> Course:
    """The course that a folder lies in; by default the user's folder."""
    return course_and_exercises((), folder, whole=whole)[0]


def course_and_exercises(
    names: Sequence[str], folder: Path | None = None, *, whole: bool = False, prints: bool = True
) -> tuple[Course, list[Exercise]]:
    """The course that a folder lies in, and the exercises of those names, or all of them.

    Args:
        names: as people type them.
        folder: by default the user's folder.
        whole: whether an exercise that cannot be used is an error; else it is left out.
        prints: whether its problems are printed then.
    """
    from grader.cli import COMMANDS
    from grader.course.layout import find_course
    from grader.course.load import load_course
    from grader.course.names import find_exercises

    course = load_course(find_course((folder or Path.cwd()).resolve()), whole=whole)
    if prints:
        print_broken(broken_of(course, names))
    named = [exercise for name in names for exercise in find_exercises(course, name, COMMANDS)]
    return course, list({exercise.id: exercise for exercise in named}.values()) or list(course.exercises)


def broken_of(course: Course, names: Sequence[str] = (), handin: HandIn | None = None) -> list[Broken]:
    """The exercises among those of these names, or of all, that cannot be used; of a hand-in, if one is meant."""
    from grader.course.names import means_module

    if handin is not None:
        return [item for item in course.broken if item.id in handin.exercises]
    listed = [item for item in course.broken if item.module]
    return [item for item in listed if not names or any(means_module(item.module, name) for name in names)]


def print_broken(broken: Sequence[Broken]) -> None:
    """Name exercises that cannot be used, and what is wrong with them, beside the output of a command."""
    for item in broken:
        for line in (*item.problems, f"{item.id} is left out until this is mended"):
            print_error(line)


def handin_of(course: Course, name: str | None) -> HandIn | None:
    """The hand-in of a name; None if no name is given.

    Raises:
        CourseError: the course has no hand-in of that name.
    """
    from grader.model.errors import CourseError

    if name is None:
        return None
    for handin in course.handins:
        if handin.id == name:
            return handin
    known = ", ".join(handin.id for handin in course.handins) or "none"
    raise CourseError(f"there is no hand-in {name!r} in this course; known are {known}")


def exercises_in(handin: HandIn | None, exercises: Sequence[Exercise]) -> list[Exercise]:
    """Those of the exercises that a hand-in has; without a hand-in all of them."""
    return [exercise for exercise in exercises if handin is None or exercise.id in handin.exercises]
