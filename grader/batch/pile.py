"""What one author or group handed in, while it is graded: some of it is done, some is away, some waits."""

from __future__ import annotations

from dataclasses import dataclass, field

from grader.intake.handed import Handed
from grader.model import Exercise, GradedExercise, Submission


@dataclass
class Pile:
    """What one author or group handed in, while it is graded.

    Attributes:
        number: its place.
        handed: what it was read from.
        submissions: the one that counts, then earlier attempts.
        found: by exercise and attempt, the outcome and its number in the journal.
        left: how many parts are still away, and one while more are given out.
        is_new: whether anything was graded now.
        waits: whether something is done again at the end of the run.
    """

    number: int
    handed: Handed
    submissions: list[Submission]
    found: dict[str, dict[int, tuple[int, GradedExercise]]] = field(default_factory=dict)
    left: int = 1
    is_new: bool = False
    waits: bool = False

    def put(self, attempt: int, number: int, graded: GradedExercise) -> None:
        """Note what was found."""
        self.found.setdefault(graded.exercise.id, {})[attempt] = number, graded


@dataclass(frozen=True)
class Piece:
    """One exercise of an attempt, which is away, and the number that its outcome gets."""

    pile: Pile
    attempt: int
    exercise: Exercise
    number: int
