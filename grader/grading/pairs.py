"""Two known mistakes in one function: which two wrong answers together explain every check that fails."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from grader.course.answers import Answer

Parts = Mapping[Answer, frozenset[str]]
"""Of wrong answers the failing checks in which they do what the submission does."""

Pair = tuple[Answer, Answer]


def pairs(parts: Parts, failing: Collection[str]) -> list[Pair]:
    """The pairs that explain all failing checks, each of the two some that the other does not.

    Args:
        parts: what each explains; none of them does anything else wrong.
        failing: the checks.
    """
    return [
        (one, other)
        for one, other in combinations(parts, 2)
        if parts[one] | parts[other] == set(failing) and parts[one] - parts[other] and parts[other] - parts[one]
    ]


def certain(found: Sequence[Pair]) -> list[Answer]:
    """The answers whose sentences stand in all of these pairs."""
    sentences = [{answer.sentence for answer in pair} for pair in found]
    return [answer for answer in found[0] if all(answer.sentence in pair for pair in sentences)] if found else []
