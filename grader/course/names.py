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
        CourseError: nothing has that name, and it suggests the nearest; or the exercise has a fault, which it names.
    """
    # A path as our own output prints it, typed or completed by a shell; its last part says which exercise it is.
    word = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].removesuffix(".py")
    number = _numbers(word)
    meant = [exercise for exercise in course.exercises if word == exercise.id or number == _numbers(exercise.number)]
    if not meant:
        module = [exercise for exercise in course.exercises if word == exercise.module]
        meant = module or [exercise for exercise in course.exercises if number == _numbers(exercise.number)[:1]]
    if not meant:
        for item in course.broken:
            if word == item.id:
                raise CourseError(*item.problems)
        raise CourseError(f"there is no exercise or command {name!r}{_nearest(course, word, commands)}")
    return meant


def means_module(module: str, name: str) -> bool:
    """Whether a name, as people type it, is that of a module: its folder, a path to it, or its number."""
    word = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    number = _numbers(word)
    return bool(module) and (word == module or (len(number) == 1 and number == _numbers(module.partition("_")[0])))


def one_exercise(course: Course, name: str) -> Exercise:
    """The exercise of a name, which may not be a module's.

    Raises:
        CourseError: nothing has that name, or more than one thing has.
    """
    meant = find_exercises(course, name)
    if len(meant) > 1:
        ids = ", ".join(exercise.id for exercise in meant)
        raise CourseError(f"{name} is a module; name one of its exercises: {ids}")
    return meant[0]


def split_rules(words: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of exercises and names of rules, such as C4 or c4, which stand behind them."""
    words = tuple(words)
    rules = tuple(word.upper() for word in words if _RULE.fullmatch(word))
    return tuple(word for word in words if not _RULE.fullmatch(word)), rules


def _numbers(word: str) -> tuple[int, ...]:
    """2-1 and 02-1 are the same; () for a word that is not a number."""
    match = _NUMBER.fullmatch(word)
    return tuple(int(part) for part in match.groups() if part) if match else ()


def _nearest(course: Course, word: str, commands: Iterable[str]) -> str:
    """What could have been meant. A number is not guessed: nearly the same digits are another exercise."""
    numbers = [exercise.number for exercise in course.exercises]
    if meant := _numbers(word):
        if same := [number for number in numbers if _numbers(number)[:1] == meant[:1]]:
            return f"; module {same[0].split('-')[0]} has {', '.join(same)}"
        return f"; the numbers are {min(numbers)} to {max(numbers)}:  grade list  shows them" if numbers else ""
    ids = [*(item.id for item in course.exercises), *(item.id for item in course.broken)]
    ids += [module.id for module in course.modules]
    near = difflib.get_close_matches(word.lower(), [*ids, *commands], n=1, cutoff=_NEAR)
    return f"; did you mean {near[0]}?" if near else ";  grade list  shows the exercises"
