"""Two known mistakes in one submission: which two wrong answers together explain every check that fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from grader.course.answers import Answer
from grader.diagnosis.traces import Traces, has_evidence

Parts = Mapping[Answer, frozenset[str]]
"""Of wrong answers the failing checks in which they do what the submission does."""


def pairs(parts: Parts, mine: Traces) -> list[tuple[Answer, Answer]]:
    """The pairs that explain all failing checks, each of the two with a value that the other does not explain.

    Args:
        parts: what each explains; none of them fails where the submission passes.
        mine: what the submission does in its failing checks.
    """
    return [
        (one, other)
        for one, other in combinations(parts, 2)
        if parts[one] | parts[other] == mine.keys()
        and has_evidence(_only(mine, parts[one] - parts[other]))
        and has_evidence(_only(mine, parts[other] - parts[one]))
    ]


def certain(found: Sequence[tuple[Answer, Answer]]) -> list[Answer]:
    """The answers of all pairs whose sentences stand in each of them: of two pairs with one in common, that one."""
    if not found:
        return []
    common = set.intersection(*({answer.sentence for answer in pair} for pair in found))
    return [answer for answer in found[0] if answer.sentence in common]


def _only(traces: Traces, ids: frozenset[str]) -> Traces:
    return {id: traces[id] for id in ids}
