"""The exercises that a name means, as people type and as our own output prints it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from grader.model import Course, Exercise
from grader.model.errors import CourseError

_NUMBER = re.compile(r"(\d+)(?:-(\d+))?")
_RULE = re.compile(r"[Cc][0-9]+")
_NEAR = 0.45


def find_exercises(course: Course, name: str, commands: Iterable[str] = ()) -> list[Exercise]:
    """The exercise of a name, or all those of a module.

    Args:
        course: the course.
        name: an id, a number (02-1 or 2-1), a path to a file or folder of an exercise, or a module by its folder or
            number (02).
        commands: what else could have been meant.

    Raises:
        CourseError: there is none; with the nearest. Or it cannot be used; with what to mend.
    """
    # A path as our own output prints it, typed or completed by a shell; its last part says which exercise it is.
    word = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].removesuffix(".py")
    number = _numbers(word)
    found = [exercise for exercise in course.exercises if word == exercise.id or number == _numbers(exercise.number)]
    if not found:
        module = [exercise for exercise in course.exercises if word == exercise.module]
        found = module or [exercise for exercise in course.exercises if number == _numbers(exercise.number)[:1]]
    if not found:
        for item in course.broken:
            if word == item.id:
                raise CourseError(*item.problems)
        raise CourseError(f"there is no exercise or command {name!r}{_nearest(course, word, commands)}")
    return found


def means_module(module: str, name: str) -> bool:
    """Whether a name, as people type it, is that of a module: its folder, a path to it, or its number."""
    word = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    number = _numbers(word)
    return bool(module) and (word == module or (len(number) == 1 and number == _numbers(module.partition("_")[0])))


def one_exercise(course: Course, name: str) -> Exercise:
    """The exercise of a name, which may not be a module's.

    Raises:
        CourseError: there is none, or more than one.
    """
    found = find_exercises(course, name)
    if len(found) > 1:
        ids = ", ".join(exercise.id for exercise in found)
        raise CourseError(f"{name} is a module; name one exercise of it: {ids}")
    return found[0]


def split_rules(words: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of exercises and names of rules, such as C4 or c4, which stand behind them."""
    words = tuple(words)
    rules = tuple(word.upper() for word in words if _RULE.fullmatch(word))
    return tuple(word for word in words if not _RULE.fullmatch(word)), rules


def _numbers(word: str) -> tuple[int, ...]:
    """2-1 and 02-1 are the same; () for what is no number."""
    found = _NUMBER.fullmatch(word)
    return tuple(int(part) for part in found.groups() if part) if found else ()


def _nearest(course: Course, word: str, commands: Iterable[str]) -> str:
    numbers = [exercise.number for exercise in course.exercises]
    padded = "-".join(f"{part:02}" if place == 0 else str(part) for place, part in enumerate(_numbers(word)))
    ids = [*(item.id for item in course.exercises), *(item.id for item in course.broken)]
    ids += [module.id for module in course.modules]
    near = difflib.get_close_matches(padded or word.lower(), [*ids, *numbers, *commands], n=1, cutoff=_NEAR)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; exercises go by their names and by their numbers, {min(numbers)} to {max(numbers)}" if numbers else ""
