"""`grade drill`: short questions of a course, whose answers come from running the lines.

A module's `drill.yaml` has them. Each round is two lines: the first makes a name that is watched, the second may change
it. What was answered wrong comes again.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grader.course.files import DrillFile, read_file
from grader.course.layout import drill_of
from grader.model import Course
from grader.model.errors import CourseError

_LEAST_AHEAD = 2
"""So many other questions come before one that was answered wrong comes again, if there are as many."""


def read_drill(course: Course, module: str | None) -> DrillFile:
    """Read the questions of a module, by its id or number; without a name, of the first module that has any.

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
    """Return whether the second line of a round changes the watched name, and that name as Python prints it.

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


@dataclass
class Tally:
    """How a drill went.

    Attributes:
        first: how many questions were answered right at once.
        questions: how many different ones there were.
        longest: the longest row of right answers.
    """

    first: int = 0
    questions: int = 0
    longest: int = 0


def play(file: DrillFile, count: int, seed: int | None, ask: Callable[[int], bool]) -> Tally:
    """Ask questions until each was answered right.

    Args:
        file: of the drill.
        count: how many different ones.
        seed: of the choice and the order; None for another one each time.
        ask: asks the question of a number, and says whether the answer was right.
    """
    tally, row, again = Tally(), 0, set[int]()
    left = random.Random(seed).sample(range(len(file.rounds)), min(count, len(file.rounds)))  # noqa: S311  a game
    tally.questions = len(left)
    while left:
        number = left.pop(0)
        if ask(number):
            row += 1
            tally.first += number not in again
        else:
            row = 0
            again.add(number)
            left.insert(min(_LEAST_AHEAD, len(left)), number)
        tally.longest = max(tally.longest, row)
    return tally
