"""Where a check stands that does not do as it should: file, line and statement, for who is to mend it."""

from __future__ import annotations

import re
from pathlib import Path

from grader.course.layout import Places
from grader.model import Exercise, Outcome

_FRAME = re.compile(r'^(?:E\s+)?(?:File "([^"]+)", line (\d+)|(\S+\.py):(\d+): )', re.MULTILINE)
_LONGEST = 90


def statement(exercise: Exercise, outcome: Outcome) -> str:
    """The line of the check file at which a check ended, as ", line 12: assert x", or ""."""
    declared = re.compile(rf"^def check_{re.escape(outcome.check.partition('[')[0])}\b", re.MULTILINE)
    for path in (exercise.shown_checks, exercise.hidden_checks):
        if path is not None and outcome.line and declared.search(path.read_text(encoding="utf-8", errors="replace")):
            return f", {_told(path, outcome.line)}"
    return ""


def unread(exercise: Exercise, problem: str) -> str:
    """Why the checks of an exercise cannot be collected: one sentence made of what pytest says.

    Args:
        exercise: the exercise.
        problem: the whole of it.
    """
    places = Places.of(exercise)
    lines = [line.removeprefix("E ").strip() for line in problem.strip().split("\n")]
    frames = [(one or two, int(first or second)) for one, first, two, second in _FRAME.findall(problem)]
    where, line = places.shown.as_posix(), ""
    files = {places.shown_checks: exercise.shown_checks, places.hidden_checks: exercise.hidden_checks}
    for name, number in frames:
        for place, path in files.items():
            if path is not None and name.replace("\\", "/").endswith(place.as_posix()):
                where, line = place.as_posix(), f" {_told(path, number)}"
    return f"{where}: its checks cannot be collected; mend them:{line} ({lines[-1]})"


def _told(path: Path, number: int) -> str:
    try:
        text = path.read_text(encoding="utf-8").split("\n")[number - 1].strip()
    except (OSError, ValueError, IndexError):
        return f"line {number}"
    return f"line {number}: {text if len(text) <= _LONGEST else text[: _LONGEST - 3] + '...'}"
