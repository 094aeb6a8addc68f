"""The line of the student's file that a check is about."""

from __future__ import annotations

import re
from pathlib import Path

from grader.model import GradedCheck, GradedExercise

_NAMED = re.compile(r"`(\w+)[`(]")


def line_of(row: GradedCheck, graded: GradedExercise) -> int | None:
    """Return the line of the student's file that a check is about.

    This is the line that raised, else the start of the function. Return None if neither is known.
    """
    place, check = graded.place, row.check
    if place is None:
        return None
    # The worker gives a module the exercise's file name, even if the submitted file has another.
    own = [graded.exercise.file_name] if Path(place.file).suffix == ".py" else []
    file = "|".join(map(re.escape, [Path(place.file).name, *own]))
    raised = re.findall(rf"^ {{4}}(?:.*/)?(?:{file}), line (\d{{1,9}})\b", row.outcome.message, re.MULTILINE)
    if raised and 1 <= int(raised[-1]) <= place.lines:
        return int(raised[-1])
    called = [name.split(".")[0] for name in reversed(row.outcome.called)]
    rule = graded.exercise.contract.get(check.contract, "")
    named = [*_NAMED.findall(row.outcome.message.partition("\n")[0]), *called, *_NAMED.findall(rule)]
    return next((place.names[name] for name in named if name in place.names), None)
