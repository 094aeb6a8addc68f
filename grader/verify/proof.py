"""What was found of one exercise."""

from __future__ import annotations

from dataclasses import dataclass, field

from grader.model import Exercise


@dataclass
class Proof:
    """What was found of one exercise.

    Attributes:
        exercise: the exercise.
        problems: sentences with their remedies.
        counts: for each kind of file (starter, reference, right, wrong): runs that went as they should, and all runs.
        seconds: the longest run of the reference.
        unproved: wrong answers whose check needs something that is not here.
    """

    exercise: Exercise
    problems: list[str] = field(default_factory=list)
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    seconds: float = 0.0
    unproved: list[str] = field(default_factory=list)
