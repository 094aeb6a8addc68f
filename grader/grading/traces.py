"""What two answers are compared by: how each check ended, and what staff read of it.

Two answers that fail the same checks in the same way, with the same wrong numbers, kinds, dtypes and errors for inputs
that were drawn, have the same mistake. What depends on how code is written, on its words or on the machine is taken out
before: places, names of files, texts of the student's own errors, and measured times. Of a count its power of two is
left.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.model import WITHHELD, GradedCheck, Outcome, Verdict

_PLACE = re.compile(r"^ {4}\S.*\.py, line \d+.*(?:\n {8}.*)?\n?", re.MULTILINE)
_COUNTED = re.compile(rf"^(?:counted: |{re.escape(WITHHELD)}).*\n?", re.MULTILINE)
_ADDRESS = re.compile(r"\b0x[0-9a-f]+")
_PATH = re.compile(r"(?<![\w.])(?:/[\w.+-]+){2,}")
_FRACTION = re.compile(r"\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+")
_COUNT = re.compile(r"\b\d[\d,]*\b")
_OPERATIONS = re.compile(r": \{.*| \(\w+ \d[\d,]* times.*\)")
_OWN_ERROR = re.compile(r"\n {8}(?:raise|assert)\b[^\n]*\s*$")
_ERROR = re.compile(r"( raised \w+): .*", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.])\d")
_DIGITS = 3

_LOST = (Verdict.FAILED, Verdict.CRASHED, Verdict.SKIPPED)
_WEAK = ("load", "name", "signature")
"""Causes before which nothing of the submission's behaviour was seen."""

COSTS = "performance"
"""The category of the checks that count or measure: they are run once, as what they say does not hang on inputs."""


@dataclass(frozen=True)
class Trace:
    """How one check ended.

    Attributes:
        verdict: what became of it.
        story: a digest of what staff read of it, as far as that does not hang on how the code is written.
        has_value: whether a wrong number is in it.
    """

    verdict: Verdict
    story: str = ""
    has_value: bool = False

    @classmethod
    def of(cls, outcome: Outcome, category: str = "") -> Trace:
        """That of an outcome of a check of this category."""
        if outcome.verdict is Verdict.PASSED:
            return cls(outcome.verdict)
        text = outcome.detail
        if _OWN_ERROR.search(text):  # its words are the student's own
            text = _ERROR.sub(r"\1", text)
        text = _ADDRESS.sub("", _PATH.sub("", _COUNTED.sub("", _PLACE.sub("", text))))
        if outcome.speed:  # that it was too slow, and nothing of how it was measured
            text = ""
        elif category == COSTS:
            text = _COUNT.sub(_power, _OPERATIONS.sub("", text))
        # The last digits of a sum hang on the order in which it was made, and that is no mistake.
        text = _FRACTION.sub(lambda found: f"{float(found[0]):.{_DIGITS}g}", text).strip()
        digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
        return cls(outcome.verdict, digest, category != COSTS and bool(_NUMBER.search(text)))

    @property
    def passed(self) -> bool:
        """Whether the check passed, or could not run here."""
        return self.verdict in (Verdict.PASSED, Verdict.NOT_RUN)

    @property
    def lost(self) -> bool:
        """Whether the check lost its points in a way that can be compared."""
        return self.verdict in _LOST


Traces = Mapping[str, Trace]
"""By the check's id."""


def is_comparable(outcome: Outcome) -> bool:
    """Whether the outcome says something about the code that is there.

    A function that is not written, that is missing or takes other arguments says nothing; nor does a worker that used
    up its time or memory: that may be any endless loop.
    """
    unwritten = outcome.verdict is Verdict.SKIPPED and outcome.cause == "raised"
    seen = outcome.verdict in (Verdict.PASSED, *_LOST)
    return seen and not unwritten and outcome.cause not in _WEAK


def traces_of(rows: Iterable[GradedCheck]) -> dict[str, Trace]:
    """How the checks ended that can be compared."""
    return {row.check.id: Trace.of(row.outcome, row.check.category) for row in rows if is_comparable(row.outcome)}


def failures_of(rows: Sequence[GradedCheck]) -> list[frozenset[str]]:
    """The failing checks that can be compared, in groups: two are of one group that call one function.

    So each function is diagnosed by itself, however many others fail or are not written yet.
    """
    groups: list[tuple[set[str], set[str]]] = []
    for row in rows:
        if not (is_comparable(row.outcome) and Trace.of(row.outcome).lost):
            continue
        ids, called = {row.check.id}, {name.split(".")[0] for name in row.outcome.called}
        for group in [group for group in groups if group[1] & called]:
            groups.remove(group)
            ids, called = ids | group[0], called | group[1]
        groups.append((ids, called))
    return [frozenset(ids) for ids, _ in groups]


def behaviour_of(traces: Traces) -> str:
    """A digest of how an answer loses its points; "" if it loses none. Equal ones did the same."""
    lost = sorted((id, trace.verdict.value, trace.story) for id, trace in traces.items() if trace.lost)
    return hashlib.sha256(repr(lost).encode()).hexdigest()[:16] if lost else ""


def _power(found: re.Match[str]) -> str:
    return f"2^{int(found[0].replace(',', '')).bit_length()}"
