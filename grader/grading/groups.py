"""Submissions that no known wrong answer explains, grouped by how they behave: each may be a mistake to write down.

Where its failing checks can be compared, a submission was run with inputs that are the same for everybody, and those
belong together that did the same with them. Others are grouped by how their checks ended: such a group says what went
wrong, and nothing by which a mistake could be recognised.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from grader.grading.diagnose import can_tell
from grader.model import Exercise, GradedCheck, GradedExercise, Verdict

_SHORTEST_NAME = 4
_DRAWN = re.compile(r"\d[\d.e+-]*")
_MISSED = "they were graded before behaviour was kept; run the batch once more with --rerun all"
_NOTHING_SEEN = "nothing shows what they do"


@dataclass(frozen=True)
class Unexplained:
    """One exercise of one submission that lost points, and behaves like no known wrong answer.

    Attributes:
        author: whose; the name of the report.
        number: by which its outcome is found again.
        key: what it has in common with those of its group.
        why_not: why no wrong answer can be made of it, or "".
    """

    author: str
    number: int
    key: str
    why_not: str = ""

    @classmethod
    def of(cls, author: str, number: int, graded: GradedExercise) -> Unexplained:
        """That of an exercise for which `is_unexplained` holds."""
        if graded.behaviour:
            return cls(author, number, graded.behaviour)
        return cls(author, number, _endings(graded), _MISSED if can_tell(graded) else _NOTHING_SEEN)


@dataclass(frozen=True)
class Group:
    """Unexplained submissions of an exercise that behave alike.

    Attributes:
        exercise: the exercise.
        name: a few digits, the same as long as they behave so.
        members: by name.
    """

    exercise: Exercise
    name: str
    members: tuple[Unexplained, ...]

    @property
    def why_not(self) -> str:
        """Why no wrong answer can be made of it, or ""."""
        return self.members[0].why_not


def is_unexplained(graded: GradedExercise) -> bool:
    """Whether somebody worked on an exercise and lost points, and no sentence says why."""
    score = graded.score
    lost = score.earned + score.undecided < score.possible
    return graded.handed_in and graded.state == "started" and lost and not graded.diagnosis


def lost_rows(graded: GradedExercise) -> list[GradedCheck]:
    """The checks that lost their points."""
    return [row for row in graded.checks if row.outcome.verdict.decided and row.outcome.verdict is not Verdict.PASSED]


def grouped(found: Iterable[tuple[Exercise, Unexplained]]) -> list[Group]:
    """The groups, the largest first; of equal ones those of which a wrong answer can be made, by exercise."""
    by_key: dict[tuple[str, str], tuple[Exercise, list[Unexplained]]] = {}
    for exercise, item in found:
        by_key.setdefault((exercise.id, item.key), (exercise, []))[1].append(item)
    digests = {key: hashlib.sha256("\0".join(key).encode()).hexdigest() for key in by_key}
    length = next(
        size for size in range(_SHORTEST_NAME, 65) if len({text[:size] for text in digests.values()}) == len(digests)
    )
    groups = [
        Group(exercise, digests[key][:length], tuple(sorted(members, key=lambda item: item.author)))
        for key, (exercise, members) in by_key.items()
    ]
    return sorted(groups, key=_place)


def _place(group: Group) -> tuple[int, bool, str, str]:
    return -len(group.members), bool(group.why_not), group.exercise.number, group.name


def _endings(graded: GradedExercise) -> str:
    """How the checks ended that lost points; numbers do not count, as inputs differ."""
    rows = [
        (row.check.id, row.outcome.verdict.value, row.outcome.cause, _DRAWN.sub("", row.outcome.message.split("\n")[0]))
        for row in lost_rows(graded)
    ]
    return hashlib.sha256(repr(rows).encode("utf-8", "backslashreplace")).hexdigest()[:16]
