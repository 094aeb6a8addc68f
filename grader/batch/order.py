"""What a run is asked to do, and what came of it. Frozen data."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from grader.grading.outcomes import is_broken
from grader.model import Exercise, GradedExercise


@dataclass(frozen=True)
class Shard:
    """A part of a class that one of several processes grades, on whatever machine.

    Attributes:
        number: which, from 1.
        count: how many there are; of each so many submissions one is this shard's.
    """

    number: int
    count: int

    def has(self, place: int) -> bool:
        """Whether the submission at that place is its own."""
        return place % self.count == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}-of-{self.count}"


@dataclass(frozen=True)
class Order:
    """What of a class is graded, and what is graded again though nothing changed.

    Attributes:
        only: the exercises that are graded, by id; none for all.
        authors: whose submissions are graded, by name; none for everybody's.
        rerun: "broken" for what was broken, "all" for everything; "" for what changed alone.
        never_lower: whether a lower score than before does not count.
        best: whether the best of several attempts counts, and not the latest.
        staff: whether its reports are for staff, with detail of hidden checks.
        shard: the part of the class that is graded; None for all of it.
    """

    only: Collection[str] = ()
    authors: Collection[str] = ()
    rerun: str = ""
    never_lower: bool = False
    best: bool = False
    staff: bool = False
    shard: Shard | None = None

    def again(self, graded: GradedExercise) -> bool:
        """Whether an exercise is graded again though nothing changed."""
        return self.rerun == "all" or (self.rerun == "broken" and is_broken(graded))


@dataclass
class Summary:
    """What came of a run.

    Attributes:
        graded: how many exercises of submissions were graded.
        kept: how many had been graded before, and nothing changed.
        broken: those that are broken, by exercise: whose.
        lower: those whose lower score does not count, as author and exercise.
        stale: how many outcomes of others were found with other checks.
        unmatched: how many rows unmatched.csv has.
        unread: what nobody could be graded by, by a fault of ours: by author, why.
    """

    graded: int = 0
    kept: int = 0
    broken: dict[str, list[str]] = field(default_factory=dict)
    lower: list[tuple[str, str]] = field(default_factory=list)
    stale: int = 0
    unmatched: int = 0
    unread: dict[str, str] = field(default_factory=dict)


def ids(exercises: Collection[Exercise]) -> list[str]:
    """The ids of exercises."""
    return [exercise.id for exercise in exercises]
