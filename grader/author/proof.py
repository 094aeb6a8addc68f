"""What was found of one exercise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.model import Exercise


@dataclass(frozen=True)
class Loss:
    """What one wrong answer loses, in the mean over seeds.

    Attributes:
        name: its file's name.
        rule: the contract line that the check which must catch it examines.
        breaks: the others that it breaks, as its file says.
        lost: hundredths of a point by contract line; "" for checks that name none.
        undecided: contract lines of which something could not be decided.
    """

    name: str
    rule: str
    breaks: tuple[str, ...]
    lost: Mapping[str, float]
    undecided: frozenset[str] = frozenset()

    @property
    def own(self) -> set[str]:
        """The rules that it breaks."""
        return {self.rule, *self.breaks}

    @property
    def on_others(self) -> float:
        """Hundredths of a point lost on other rules."""
        return sum(points for rule, points in self.lost.items() if rule not in self.own)


@dataclass
class Proof:
    """What was found of one exercise.

    Attributes:
        exercise: the exercise.
        problems: sentences with their remedies.
        counts: for each kind (starter, reference, right, wrong, odd, constant): runs that went as they should, and all
            runs.
        seconds: the longest run of the reference.
        unproved: wrong answers whose check needs something that is not here.
        losses: what each wrong answer loses.
        notes: what is worth a look, and no problem.
        messages: by hidden check, what students were told of it.
    """

    exercise: Exercise
    problems: list[str] = field(default_factory=list)
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    seconds: float = 0.0
    unproved: list[str] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    messages: dict[str, set[str]] = field(default_factory=dict)
