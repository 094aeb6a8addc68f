"""What answers are compared by: what their code does, and not how it is written."""

from __future__ import annotations

import pytest

from grader.diagnosis.traces import Trace, compared, has_evidence
from grader.model import Check, Outcome, Verdict

FAILED = Verdict.FAILED


def trace(detail: str, verdict: Verdict = FAILED) -> Trace:
    return Trace.of(Outcome("small", verdict, "", detail))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("asked  2.0\n    double.py, line 2, in double\n        return 3 * x", "asked  2.0\n    double.py, line 9"),
        ("yours  0.1234567", "yours  0.1234571"),
        ("<object at 0x7f31> 3", "<object at 0x7f99> 3"),
        ("no file /somewhere/grade-1/work/a.txt 3", "no file /somewhere/grade-2/work/a.txt 3"),
        ("yours  3\ncounted: {'ops': 1}", "yours  3\ncounted: {'ops': 9}"),
    ],
)
def test_how_code_is_written_does_not_count(one: str, other: str) -> None:
    """Lines, rounding, addresses, folders and counts make no difference."""
    assert trace(one) == trace(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("yours  3", "yours  4"), ("yours  0.12", "yours  0.13"), ("yours  (1, 2)", "yours  (2, 1)")],
)
def test_what_it_does_counts(one: str, other: str) -> None:
    """Other values are another mistake."""
    assert trace(one) != trace(other)


def test_a_verdict_counts() -> None:
    """The same words with another verdict are something else."""
    assert trace("yours  3") != trace("yours  3", Verdict.CRASHED)


@pytest.mark.parametrize(
    ("traces", "told"),
    [
        ({"a": trace("yours  3")}, True),
        ({"a": trace("the dtype is float32, int64 is asked")}, False),
        ({"a": trace("", Verdict.PASSED)}, False),
        ({"a": trace("it took 3 s", Verdict.TIMED_OUT)}, False),
        ({"a": trace("your file imports numpy"), "b": trace("yours  3")}, True),
    ],
)
def test_evidence_is_a_value(traces: dict[str, Trace], told: bool) -> None:
    """A dtype's name holds a digit and is none."""
    assert has_evidence(traces) is told


def test_costs_are_not_compared() -> None:
    """Checks of performance are left out."""
    checks = [Check("a", "double", "A"), Check("b", "double", "B", category="performance")]
    assert compared(checks) == {"a"}
