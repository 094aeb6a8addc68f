"""The checks of an exercise by what ended them: the cause first, and checks that stop at one cause as one group."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.model import CAUSES, GradedCheck, Verdict

_RAISED = re.compile(r"your `[^`]+`(?: object)? (?:raised \w+|is not written yet)?")
_KIND = re.compile(r" is (None|an? [\w ]+|some other object), .+ is asked")
_PLACE = re.compile(r"^ {4}\S.*, line \d+", re.MULTILINE)


@dataclass(frozen=True)
class Told:
    """The checks of an exercise, in the order in which a reader needs them.

    Attributes:
        cause: the one that is told in full, or None if none lost points.
        same: those that stop at the same cause.
        lost: the others that lost points, causes before consequences.
        open: those of which nothing was decided.
        passed: those that passed.
    """

    cause: GradedCheck | None
    same: tuple[GradedCheck, ...]
    lost: tuple[GradedCheck, ...]
    open: tuple[GradedCheck, ...]
    passed: tuple[GradedCheck, ...]

    @classmethod
    def of(cls, rows: Sequence[GradedCheck]) -> Told:
        """Those of an exercise that was graded."""
        decided = [row for row in rows if row.outcome.verdict.decided]
        lost = sorted((row for row in decided if row.outcome.verdict is not Verdict.PASSED), key=_rank)
        cause = lost[0] if lost else None
        same = [row for row in lost[1:] if cause is not None and _stops_at(row, cause)]
        return cls(
            cause,
            tuple(same),
            tuple(row for row in lost[1:] if row not in same),
            tuple(row for row in rows if not row.outcome.verdict.decided),
            tuple(row for row in decided if row.outcome.verdict is Verdict.PASSED),
        )


def _rank(row: GradedCheck) -> int:
    """Earlier for what makes others fail; among equals the order in which they ran stays."""
    cause = row.outcome.cause
    return CAUSES.index(cause) if cause in CAUSES else len(CAUSES)


def _stops_at(row: GradedCheck, cause: GradedCheck) -> bool:
    """Whether a check met the same thing as another one: the same error at the same line, the same wrong kind."""
    mine, theirs = (item.outcome.message.split("\n")[0] for item in (row, cause))
    if row.outcome.cause != cause.outcome.cause and (row.check.shown and cause.check.shown):
        return False
    if mine == theirs:
        return cause.outcome.cause not in ("values", "shape", "dtype")  # of which each has an input of its own
    if row.outcome.verdict is not cause.outcome.verdict:
        return False
    kinds = _KIND.search(mine), _KIND.search(theirs)
    if kinds[0] and kinds[1]:
        return kinds[0][1] == kinds[1][1]
    heads = _RAISED.match(mine), _RAISED.match(theirs)
    if not heads[0] or not heads[1] or heads[0][0] != heads[1][0]:
        return False
    # A hidden check does not say where it was raised.
    places = (_PLACE.findall(item.outcome.message) for item in (row, cause))
    return not (row.check.shown and cause.check.shown) or next(places) == next(places)
