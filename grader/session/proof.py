"""What a student is told to try has been tried: lines that would show nothing wrong are not printed.

Of a shown check its calls are made again with arguments made anew from their text, as the student will make them: the
check must fail as it did, and it must pass for the reference. Then the lines themselves are run for both, and must
print something else. A copy without the reference was told for which checks that passes. Of a hidden check the author's
example is run, in a worker that knows no hidden input, and for the reference as well: what gives the same for both
shows nothing.
"""

from __future__ import annotations

import ast
import re
from contextlib import closing
from dataclasses import replace

from grader.connection.connection import Connection, named
from grader.connection.record import Record
from grader.model import Check, Outcome, Verdict
from grader.model.endings import WorkerLost
from grader.session.judge import AS_THEY_WERE, Judge
from grader.session.reproduce import Lines, remade, reproduce

_PRINTED = ("signature", "raised", "kind", "shape", "dtype", "device", "values")
"""What `print` shows. Sharing of memory, writes and times are seen in other ways."""

_ON_RANKS = "(called on {} ranks at once: to see it in plain Python, start a process for each, as torchrun does)"
_RAISED, _LOST = "raised: ", "lost: "
_CALL_S = 1.0
_LONGEST = 4000
_SHORT = 60
_VARIES = re.compile(r" at 0x[0-9a-f]+|\w+Backward\w*")
_DIGITS = re.compile(r"(\d\.\d{5})\d+")


class Tries:
    """Tries what a student may try, in a worker of its own. Open it for one session, close it after each job."""

    def __init__(self) -> None:
        self._references: dict[tuple[str, str], str] = {}
        self._passes_anew: dict[tuple[str, str], bool] = {}
        self._fresh: dict[int, Connection] = {}

    def explained(self, outcome: Outcome, judge: Judge, student: Connection) -> Outcome:
        """The outcome with lines or an example to try, if they show what is wrong.

        Args:
            outcome: of a check.
            judge: runs it again.
            student: whose worker was asked.
        """
        if judge.check.shown:
            return self._with_lines(outcome, judge, student)
        return self._with_example(judge.check, outcome, student)

    def _with_lines(self, outcome: Outcome, judge: Judge, student: Connection) -> Outcome:
        stub = outcome.verdict is Verdict.SKIPPED and outcome.cause == "raised"
        seen = outcome.verdict in (Verdict.FAILED, Verdict.CRASHED, Verdict.SKIPPED) and student.record.lost is None
        if stub or not seen or outcome.cause not in _PRINTED:
            return outcome
        calls = student.record.calls
        if (ranks := max((call.ranks for call in calls), default=1)) > 1:
            # No line of plain Python makes a call on several ranks: it needs a process for each.
            return replace(outcome, message=f"{outcome.message}\n{_ON_RANKS.format(ranks)}")
        lines = reproduce(student.module, calls, student.folder, student.device)
        if lines is None or not self._reference_passes(judge):
            return outcome
        with closing(student.fresh()) as fresh:
            again = judge.attempt(fresh, rewrite=remade).decision
        plain = outcome.message.replace(f"\n{AS_THEY_WERE}", "")
        if (again.verdict, again.message) != (outcome.verdict, plain):
            return outcome
        if student.reference is not None and not self._show(lines, outcome, student):
            return outcome
        return replace(outcome, message=f"{outcome.message}\n\n{lines}")

    def _reference_passes(self, judge: Judge) -> bool:
        """Whether the check passes for the reference with arguments that are made anew; a copy without one says so."""
        if judge.stand_in is None:
            return judge.retyped
        key = judge.check.exercise, judge.check.id
        if key not in self._passes_anew:
            with judge.stand_in() as stand_in:
                verdict = judge.attempt(stand_in, rewrite=remade).decision.verdict
            self._passes_anew[key] = verdict is Verdict.PASSED
        return self._passes_anew[key]

    def _show(self, lines: Lines, outcome: Outcome, student: Connection) -> bool:
        """Whether the lines print something else for the student than for the reference, which they suit."""
        assert student.reference is not None
        text = "\n".join(lines.body)
        # Workers that ran nothing else, as the lines will be run.
        with closing(student.reference.fresh()) as right, closing(student.fresh()) as own:
            expected, got = _tried(right, text), _tried(own, text)
        # What the reference raises is right only where the check expects it, and names it.
        suits = not expected.startswith((_RAISED, _LOST)) or expected.removeprefix(_RAISED) in outcome.message
        return suits and expected != got

    def _with_example(self, check: Check, outcome: Outcome, student: Connection) -> Outcome:
        """The outcome of a hidden check that did not pass, with its example, unless that shows nothing."""
        if not check.try_this or outcome.cause in ("", "load"):
            return outcome
        lost = outcome.verdict in (Verdict.TIMED_OUT, Verdict.OVER_LIMIT) or student.record.lost is not None
        if lost or student.reference is None or not _is_python(check.try_this):
            return _example(outcome, check)
        key, text = (check.exercise, check.id), _as_lines(check.try_this)
        if key not in self._references:
            with closing(student.reference.fresh()) as fresh:
                self._references[key] = _tried(fresh, text)
        shows = _tried(self._anew(student), text) != self._references[key]
        return _example(outcome, check) if shows else outcome

    def _anew(self, student: Connection) -> Connection:
        """The student's code in a worker that has met no hidden input, so that what comes of it says nothing of one."""
        if id(student) not in self._fresh:
            self._fresh[id(student)] = student.fresh()
        return self._fresh[id(student)]

    def close(self) -> None:
        """End the workers."""
        for connection in self._fresh.values():
            connection.close()
        self._fresh.clear()


def _example(outcome: Outcome, check: Check) -> Outcome:
    # Code on a line of its own is not broken where it is shown, and runs as it stands.
    long = len(check.try_this) > _SHORT and _is_python(check.try_this)
    return replace(outcome, message=f"{outcome.message}\nTry this:{f'{chr(10)}    ' if long else ' '}{check.try_this}")


def _is_python(text: str) -> bool:
    """Whether an example is lines to run; else it is advice in words."""
    try:
        ast.parse(_as_lines(text))
    except (SyntaxError, ValueError):
        return False
    return "(" in text


def _as_lines(text: str) -> str:
    return text.replace(", and ", ", ")


def _tried(connection: Connection, lines: str) -> str:
    """What comes of lines: what they print and give, or the type of what they raise."""
    limits = connection.limits
    connection.begin_check(Record(), replace(limits, call_s=min(_CALL_S, limits.call_s)))
    try:
        printed = named(connection, "tried", "")(connection.module, lines)
    except WorkerLost as lost:
        return f"{_LOST}{lost.verdict}"
    except Exception as error:  # whatever student code raises
        return f"{_RAISED}{type(error).__name__}"
    finally:
        connection.begin_check(Record(), limits)
    return _DIGITS.sub(r"\1", _VARIES.sub("", str(printed)[:_LONGEST]))
