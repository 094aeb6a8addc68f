"""What was found of one exercise."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from grader.model import Exercise


@dataclass(frozen=True)
class Loss:
    """What one wrong answer loses, with its first seed.

    Attributes:
        name: its file's name, without the ending.
        rule: the contract line that the check which must catch it examines.
        lost: hundredths of a point by contract line; "" for checks that name none.
    """

    name: str
    rule: str
    lost: Counter[str]

    @property
    def on_others(self) -> int:
        """Hundredths of a point lost on other rules."""
        return self.lost.total() - self.lost[self.rule]


@dataclass
class Proof:
    """What was found of one exercise.

    Attributes:
        exercise: the exercise.
        problems: sentences with their remedies.
        counts: for each kind (starter, reference, right, wrong, odd): runs that went as they should, and all runs.
        seconds: the longest run of the reference.
        unproved: wrong answers whose check needs something that is not here.
        losses: what each wrong answer loses.
    """

    exercise: Exercise
    problems: list[str] = field(default_factory=list)
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    seconds: float = 0.0
    unproved: list[str] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
