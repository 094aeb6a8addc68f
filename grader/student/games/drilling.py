"""`grade drill`: short questions of a course, whose answers come from running the lines.

A module's `drill.yaml` has them. Each round is two lines: the first makes a name that is watched, the second may change
it.
"""

from __future__ import annotations

from typing import Any

from grader.course.files import DrillFile, read_file
from grader.course.layout import drill_of
from grader.model import Course
from grader.model.errors import CourseError


def read_drill(course: Course, module: str | None) -> DrillFile:
    """The questions of a module, by its id or number; of the first that has any without one.

    Raises:
        CourseError: there is no drill, or its file is not as it must be.
    """
    there = [item for item in course.modules if (course.root / drill_of(item.id)).is_file()]
    chosen = [item for item in there if module is None or module in (item.id, item.id.split("_")[0])]
    if not chosen:
        names = ", ".join(item.id for item in there) or "no module"
        raise CourseError(f"{module or course.title} has no drill; these have one: {names}")
    path = drill_of(chosen[0].id)
    return read_file(course.root / path, path.as_posix(), DrillFile)


def answer(file: DrillFile, number: int) -> tuple[bool, str]:
    """Whether the second line of a round changes the watched name, and that name as Python prints it in the end.

    Raises:
        CourseError: a line raises an exception.
    """
    first, second = file.rounds[number].lines
    names: dict[str, Any] = {}
    try:
        exec(f"{file.start}\n{first}", names)  # noqa: S102  the course's own lines
        before = repr(names[file.watch])
        exec(second, names)  # noqa: S102
    except Exception as error:
        raise CourseError(f"drill.yaml: round {number + 1} raises {type(error).__name__}: {error}") from None
    after = repr(names[file.watch])
    return before != after, after
