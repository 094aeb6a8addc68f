"""What two answers are compared by: of each check the verdict, and what staff read of it.

That story has values in it, which are the evidence: two answers that give the same wrong numbers, for inputs that were
drawn, have the same mistake. What hangs on how code is written, and not on what it does, is taken out before.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.model import WITHHELD, Check, Outcome, Verdict

_PLACE = re.compile(r"^ {4}\S.*\.py, line \d+.*(?:\n {8}.*)?\n?", re.MULTILINE)
_COUNTED = re.compile(rf"^(?:counted: |{re.escape(WITHHELD)}).*\n?", re.MULTILINE)
_ADDRESS = re.compile(r"\b0x[0-9a-f]+")
_PATH = re.compile(r"(?<![\w.])(?:/[\w.+-]+){2,}")
_FRACTION = re.compile(r"\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+")
_NUMBER = re.compile(r"(?<![\w.])\d")
_DIGITS = 3

_LOST = (Verdict.FAILED, Verdict.CRASHED, Verdict.SKIPPED)


@dataclass(frozen=True)
class Trace:
    """How one check ended.

    Attributes:
        verdict: what became of it.
        story: a digest of what staff read of it, as far as that does not hang on how the code is written.
        has_value: whether there is a number in it.
    """

    verdict: Verdict
    story: str = ""
    has_value: bool = False

    @classmethod
    def of(cls, outcome: Outcome) -> Trace:
        """That of an outcome."""
        if outcome.verdict is Verdict.PASSED:
            return cls(outcome.verdict)
        text = _ADDRESS.sub("", _PATH.sub("", _COUNTED.sub("", _PLACE.sub("", outcome.detail))))
        # The last digits of a sum hang on the order in which it was made, and that is no mistake.
        text = _FRACTION.sub(lambda found: f"{float(found[0]):.{_DIGITS}g}", text).strip()
        digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
        return cls(outcome.verdict, digest, bool(_NUMBER.search(text)))

    @property
    def lost(self) -> bool:
        """Whether the check lost its points in a way that can be compared: time and memory say little of a mistake."""
        return self.verdict in _LOST


Traces = Mapping[str, Trace]
"""By the check's id."""


def compared(checks: Iterable[Check]) -> frozenset[str]:
    """The ids of the checks that answers are compared by: what is counted or timed hangs on how code is written."""
    return frozenset(check.id for check in checks if check.category != "performance")


def has_evidence(traces: Traces) -> bool:
    """Whether something was lost, and a value tells how; a name or a kind that is not asked tells too little."""
    return any(trace.lost and trace.has_value for trace in traces.values())


def behaviour_of(traces: Traces) -> str:
    """A digest of how an answer loses its points; "" where no value shows it. Equal ones did the same."""
    if not has_evidence(traces):
        return ""
    lost = sorted((id, trace.verdict.value, trace.story) for id, trace in traces.items() if trace.lost)
    return hashlib.sha256(repr(lost).encode()).hexdigest()[:16]
