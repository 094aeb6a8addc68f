"""Functions that fail while another function that they use fails, too.

A student's function that uses a faulty one of the student's may be right itself: with another result of that one it
might pass. It could be tried with the reference's function in that place, but student code never runs in a process with
a reference. So the message of its check says where to look first, and a known mistake is named for it only
where the fault of the other function is seen not to matter. Where an exception was raised before the other function
can have been called, as the lines of its traceback say, that one is not named. Nor is it named where a diagnosis has
seen that its fault does not matter: then to look there first would be a detour.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from grader.grading.behaviour import COSTS, is_of_written_function
from grader.intake.collect import functions_reached_in, functions_used_in
from grader.model import GradedCheck, GradedExercise
from grader.model.report import split_at_rule
from grader.model.score import function_of

_SENTENCE = re.compile(r"^`[^`\n]+` uses [^\n]+, which fails?, too: look there first\.$")


class FailingCallees:
    """The functions that failing functions of a submission use, and that fail, too.

    Args:
        rows: the checks of an exercise, with their outcomes.
        files: the submission's files of the exercise, by name.
    """

    def __init__(self, rows: Iterable[GradedCheck], files: Mapping[str, bytes]) -> None:
        failing = [row for row in rows if _has_failing_function(row)]
        alone = [row for row in failing if len({name.split(".")[0] for name in row.outcome.called}) == 1]
        faulty = {function_of(row) for row in alone}
        self._wrong = {function_of(row) for row in alone if not _is_of_costs(row)}
        callers = {function_of(row) for row in failing} - {""}
        # A function that fails alone is nobody's callee: no code need be read.
        uses = {name: functions_used_in(files, name) & (faulty - {name}) for name in callers if faulty - {name}}
        self._callees = {
            name: frozenset(one for one in used if name not in uses.get(one, ())) for name, used in uses.items()
        }
        self._files = files

    def callees_of(self, row: GradedCheck) -> frozenset[str]:
        """Return the faulty functions used by the function at fault in a check.

        If `mean` uses `total`, and checks of both fail, it is `total` for a check of `mean`: it may be why that check
        fails. A function that only costs too much does not make a check of values fail. Of two functions that use each
        other, neither is returned for the other. A function that was certainly not called before an exception is not
        returned, either.
        """
        callees = self._callees.get(function_of(row), frozenset()) if _has_failing_function(row) else frozenset()
        callees = callees if _is_of_costs(row) else callees & self._wrong
        if not callees or not row.outcome.stopped_at:
            return callees
        reached = functions_reached_in(self._files, row.outcome.stopped_at)
        return callees if reached is None else callees & reached

    def to_fix_first(self, row: GradedCheck) -> list[str]:
        """Return the functions that the message of a check names as those to look at first.

        They are the functions of `callees_of` that use no other function of `callees_of`.
        """
        callees = self.callees_of(row)
        return sorted(name for name in callees if callees.isdisjoint(self._callees.get(name, ())))


def with_callees_named(
    graded: GradedExercise, files: Mapping[str, bytes], harmless: Mapping[str, Collection[str]] | None = None
) -> GradedExercise:
    """Return the exercise with messages that name the failing functions used by failing ones.

    A message then has "`mean` uses `total`, which fails, too: look there first."

    Args:
        graded: the exercise; what its messages name already is named anew.
        files: the submission's files of the exercise, by name.
        harmless: the failing functions that are not the reason why a check fails, by the check's id; they are not
            named. None if nothing is known of that.
    """
    callees, known = FailingCallees(graded.checks, files), harmless or {}
    rows = [
        _with_callees(row, [name for name in callees.to_fix_first(row) if name not in known.get(row.check.id, ())])
        for row in graded.checks
    ]
    return replace(graded, checks=tuple(rows))


def _with_callees(row: GradedCheck, callees: list[str]) -> GradedCheck:
    story, rest = split_at_rule(row.outcome.message, row.check.contract)
    # It has one if it was inconclusive before, or is diagnosed now.
    lines = [line for line in story.split("\n") if not _SENTENCE.match(line)]
    if callees:
        names = " and ".join(f"`{name}`" for name in callees)
        # The source says that it is used, and not that this call came there: the sentence claims no cause.
        fails = "fails" if len(callees) == 1 else "fail"
        lines.append(f"`{function_of(row)}` uses {names}, which {fails}, too: look there first.")
    message = "\n".join(filter(None, ["\n".join(lines), rest]))
    return row if message == row.outcome.message else replace(row, outcome=replace(row.outcome, message=message))


def _has_failing_function(row: GradedCheck) -> bool:
    """Return whether a check lost points because of what a function that it called does.

    A function that does not load, is missing, has other arguments or is not written yet has no behaviour.
    """
    outcome = row.outcome
    return outcome.verdict.is_lost and bool(outcome.called) and is_of_written_function(outcome)


def _is_of_costs(row: GradedCheck) -> bool:
    """Return whether a check is about the costs or the source of code, not its results."""
    return row.check.category == COSTS or row.outcome.from_text
