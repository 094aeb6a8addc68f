"""Two known mistakes in one submission: which two wrong answers together explain every check that fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from grader.course.answers import Answer
from grader.diagnosis.traces import Traces, has_evidence

Parts = Mapping[Answer, frozenset[str]]
"""Of wrong answers the failing checks in which they do what the submission does."""


Pair = tuple[Answer, Answer]


def pairs(parts: Parts, mine: Traces) -> list[Pair]:
    """The pairs that explain all failing checks, each of the two some that the other does not, and one by a value.

    Args:
        parts: what each explains; none of them fails where the submission passes.
        mine: what the submission does in its failing checks.
    """
    return [
        (one, other)
        for one, other in combinations(parts, 2)
        if parts[one] | parts[other] == mine.keys()
        and parts[one] - parts[other]
        and parts[other] - parts[one]
        and _shown((one, other), parts, mine)
    ]


def certain(found: Sequence[Pair], parts: Parts, mine: Traces) -> list[Answer]:
    """The answers whose sentences hold in all of these pairs, and are shown by a value in each."""
    if not found:
        return []
    common = set.intersection(*(_shown(pair, parts, mine) for pair in found))
    return [answer for answer in found[0] if answer.sentence in common]


def _shown(pair: Pair, parts: Parts, mine: Traces) -> set[str]:
    """The sentences of a pair that a value shows in checks which the other of both does not explain."""
    both = pair, pair[::-1]
    return {one.sentence for one, other in both if has_evidence(_only(mine, parts[one] - parts[other]))}


def _only(traces: Traces, ids: frozenset[str]) -> Traces:
    return {id: traces[id] for id in ids}
