"""The checks of an exercise by what ended them: the cause first, and checks that stop at one cause as one group."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.model.check import CAUSES, Verdict
from grader.model.report import GradedCheck

_RAISED = re.compile(r"your (?:`[^`]+`(?: object)?|\w+\.py) (?:raised \w+|is not written yet|)")
_KIND = re.compile(r"^expected .+ to be .+, got (None|an? [\w ]+|some other object)(?: \(.+? missing\?\))?$")
_ONE_FOR_ALL = ("load", "name", "signature", "raised")
_ANYWHERE = ("raised", "kind", "shape")
_FIRST_RESULT, _LAST_RESULT = CAUSES.index("raised"), CAUSES.index("memory")
_PLACE = re.compile(r"^ {4}\S.*, line \d+", re.MULTILINE)


@dataclass(frozen=True)
class Causes:
    """The checks of an exercise, in the order in which a reader needs them.

    Attributes:
        cause: the one that is shown in full, or None if none lost points.
        same: those that stop at the same cause.
        lost: the others that lost points, causes before consequences.
        unwritten: those of functions that are not written yet, except for the cause.
        open: those of which nothing was decided.
        passed: those that passed.
    """

    cause: GradedCheck | None
    same: tuple[GradedCheck, ...]
    lost: tuple[GradedCheck, ...]
    unwritten: tuple[GradedCheck, ...]
    open: tuple[GradedCheck, ...]
    passed: tuple[GradedCheck, ...]

    @classmethod
    def of(cls, rows: Sequence[GradedCheck]) -> Causes:
        """Those of an exercise that was graded."""
        lost = sorted((row for row in rows if row.verdict.lost), key=_rank)
        cause = lost[0] if lost else None
        same = [row for row in lost[1:] if cause is not None and _stops_at(row, cause)]
        rest = [row for row in lost[1:] if row not in same]
        unwritten = [row for row in rest if _unwritten(row)]
        return cls(
            cause,
            tuple(same),
            tuple(row for row in rest if row not in unwritten),
            tuple(unwritten),
            tuple(row for row in rows if not row.verdict.decided),
            tuple(row for row in rows if row.verdict is Verdict.PASSED),
        )


def _rank(row: GradedCheck) -> tuple[int, ...]:
    """Earlier for what makes others fail; among equals the order in which they ran stays.

    Of wrong results those of shown checks come first, because their messages are complete. A hidden check may meet the
    same with inputs that it cannot show, under a rule that is not to blame. An exception or a wrong kind, which end any
    check that calls the function, are shown under the first rule.
    """
    cause, shown = row.outcome.cause, row.check.shown
    if cause == "shape" and not shown:  # a hidden check of values that met a wrong shape ranks as one of values
        cause = "values" if row.check.category in ("correctness", "error") else row.check.category
    place = CAUSES.index(cause) if cause in CAUSES else len(CAUSES)
    # A student who writes one function after another needs the message of the one that is there.
    if _unwritten(row):
        place = len(CAUSES) + 1
    if not _FIRST_RESULT <= place <= _LAST_RESULT:
        return (place,)
    number, spreads = row.check.contract[1:], cause in _ANYWHERE
    # What only hidden checks raise comes of their inputs; a value is nearer to what is wrong.
    of_inputs = cause == "raised" and not shown
    if not spreads or not number.isdigit():
        return _FIRST_RESULT, not shown, of_inputs, place
    return _FIRST_RESULT, not shown, of_inputs, _FIRST_RESULT, int(number), place


def _unwritten(row: GradedCheck) -> bool:
    """Whether a check met the starter's own error."""
    return row.outcome.verdict is Verdict.SKIPPED and row.outcome.cause == "raised"


def _stops_at(row: GradedCheck, cause: GradedCheck) -> bool:
    """Whether a check met the same thing as another one: the same error at the same line, the same wrong kind."""
    mine, theirs = (item.outcome.message.split("\n")[0] for item in (row, cause))
    # A hidden check does not say where it was, nor why in a word of its own.
    both_shown = row.check.shown and cause.check.shown
    if row.outcome.verdict is not cause.outcome.verdict or (both_shown and row.outcome.cause != cause.outcome.cause):
        return False
    places = [_PLACE.findall(item.outcome.message) for item in (row, cause)]
    if both_shown and all(places) and places[0] != places[1]:
        return False
    kinds = _KIND.search(mine), _KIND.search(theirs)
    if kinds[0] and kinds[1]:
        return kinds[0][1] == kinds[1][1]
    heads = _RAISED.match(mine), _RAISED.match(theirs)
    if heads[0] and heads[1] and row.outcome.verdict is not Verdict.FAILED:
        return heads[0][0] == heads[1][0]
    return mine == theirs and cause.outcome.cause in _ONE_FOR_ALL
