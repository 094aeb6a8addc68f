"""What a student is told to try has been tried: lines that would show nothing wrong are not told.

Of a shown check the calls are made again with arguments made anew from their text, as the student will make them: the
check must fail as it did. Of a hidden check the author's example is run, in a worker that knows no hidden input, and
beside it the reference: what gives the same for both shows nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from grader.check.show import as_source
from grader.jobs import Keep
from grader.model import Check, Limits, Outcome, Verdict
from grader.model.endings import WorkerLost
from grader.remote.journal import Call
from grader.remote.side import Side
from grader.remote.student import RemoteFunction
from grader.session.outcome import AS_THEY_WERE
from grader.session.reproduce import reproduce
from grader.wire.claimed import claims_of
from grader.wire.incoming import copies

_PRINTED = ("signature", "raised", "kind", "shape", "dtype", "device", "values")
"""What `print` shows. Who shares memory, what was written and how long it took are seen in other ways."""

_CALL_S = 1.0
_LONGEST = 4000
_SHORT = 60
_VARIES = re.compile(r" at 0x[0-9a-f]+|\w+Backward\w*")
_DIGITS = re.compile(r"(\d\.\d{5})\d+")

Again = Callable[[Side], tuple[Verdict, str]]
"""Runs a check once more with this side in the student's place; gives its verdict and message."""


def _from_text(value: Any) -> Any:
    """A value made from its text, which a student will paste; large ones come out of a file, and share nothing too."""
    text = as_source(value)
    here = claims_of(value) if isinstance(value, torch.Tensor) else None
    if text is not None and (here is None or here.device == "cpu"):
        with suppress(Exception):  # some text is no Python: what it stands for has no lines either
            return eval(text, {"torch": torch, "np": np})  # noqa: S307  of a check's value, not of a worker's claim
    return copies(value)[0]


class Tries:
    """Tries what a student may try, in a worker of its own. Open it for one job, close it.

    Args:
        references: what comes of each example with the reference, by exercise and check; filled as it is found out.
    """

    def __init__(self, references: dict[tuple[str, str], str]) -> None:
        self._references = references
        self._fresh: dict[int, Side] = {}

    def with_lines(
        self, check: Check, outcome: Outcome, calls: Sequence[Call], student: Side, keep: Keep | None, again: Again
    ) -> Outcome:
        """The outcome of a shown check with lines that make its calls in plain Python, if they show what it tells.

        Args:
            check: the check.
            outcome: what became of it.
            calls: that it made.
            student: whose worker was asked.
            keep: where large inputs go, if anywhere.
            again: runs the check once more.
        """
        stub = outcome.verdict is Verdict.SKIPPED and outcome.cause == "raised"
        seen = outcome.verdict in (Verdict.FAILED, Verdict.CRASHED, Verdict.SKIPPED) and student.sitting.lost is None
        if stub or not seen or not check.shown or outcome.cause not in _PRINTED:
            return outcome
        lines = reproduce(student.sitting.module, check.id, calls, keep, student.device)
        if not lines:
            return outcome
        anew = self._anew(student)
        anew.rewrite = _from_text
        verdict, message = again(anew)
        anew.rewrite = None
        if (verdict, _plain(message)) != (outcome.verdict, _plain(outcome.message)):
            return outcome
        return replace(outcome, message=f"{outcome.message}\n\n{lines}")

    def with_example(self, check: Check, outcome: Outcome, student: Side, reference: Side | None) -> Outcome:
        """The outcome of a hidden check that did not pass, with its example, unless that shows nothing."""
        if check.shown or not check.try_this or outcome.cause in ("", "load"):
            return outcome
        lost = outcome.verdict in (Verdict.TIMED_OUT, Verdict.OVER_LIMIT) or student.sitting.lost is not None
        if lost or reference is None or not _is_python(check.try_this):
            return _example(outcome, check)
        shows = self._of_student(check, student) != self._of_reference(check, reference)
        return _example(outcome, check) if shows else outcome

    def _of_student(self, check: Check, student: Side) -> str:
        return _tried(self._anew(student), check)

    def _anew(self, student: Side) -> Side:
        """The student's code in a worker that has met no hidden input, so that what comes of it tells of none."""
        if id(student) not in self._fresh:
            self._fresh[id(student)] = student.fresh()
            self._fresh[id(student)].sitting.folder = student.sitting.folder
        return self._fresh[id(student)]

    def _of_reference(self, check: Check, reference: Side) -> str:
        key = check.exercise, check.id
        if key not in self._references:
            with closing((side := reference.fresh()).sitting):
                self._references[key] = _tried(side, check)
        return self._references[key]

    def close(self) -> None:
        """End the workers."""
        for side in self._fresh.values():
            side.sitting.close()


def _plain(message: str) -> str:
    """A message without what tells how it was come by."""
    return message.replace(f"\n{AS_THEY_WERE}", "")


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


def _tried(side: Side, check: Check) -> str:
    """What comes of an example: what it prints and gives, or the type of what it raises."""
    side.leave = None  # it is no check's time, and no check's inputs, that this is
    side.begin_check(0, _quick(side.sitting.limits), recording=False)
    side.around.begin()
    tried = RemoteFunction(side, "tried", "probe:")
    try:
        told = tried(side.sitting.module, _as_lines(check.try_this))
    except WorkerLost as lost:
        return f"lost: {lost.verdict}"
    except Exception as error:  # whatever student code raises, down to the way it is shown
        return f"raised: {type(error).__name__}"
    return _DIGITS.sub(r"\1", _VARIES.sub("", str(told)[:_LONGEST]))


def _quick(limits: Limits) -> Limits:
    return replace(limits, call_s=min(_CALL_S, limits.call_s))
