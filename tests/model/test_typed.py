"""Typed data come back from JSON as they were, and what is not of the type is refused with every problem."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.model import Check, DeviceKind, Limits, Outcome, Speed, Submission, Verdict
from grader.model.errors import FormatError
from grader.model.files import from_json, to_json
from grader.model.messages import CheckSelection, Collected, Done, Job, Plan, PlannedExercise, Setup, Spawned, Start
from grader.model.report import ExerciseFiles

SPEED = Speed("told", "against", 1.5, 1.0, None, 2.0, 0.1, 0.2, 3, 4)
PLANNED = PlannedExercise("double", Path("a.py"), None, (Path("p.py"),), None, {"C1": "rule"}, Limits(call_s=2))


@pytest.mark.parametrize(
    "value",
    [
        Plan(Path("/tmp/\udcff"), ("python", "-I"), DeviceKind.SIM, (PLANNED,)),
        Collected(
            (Check("a", "double", "A", device=DeviceKind.CUDA),), {"total": "does not load"}, 2, ("check_a.py:3: x",)
        ),
        Job("double", {"double.py": b"x = 1\n", "empty.py": b"", "\udcff.py": b"\x00\xff"}, 2**255),
        Job("double", {}, 7, "../k", CheckSelection(frozenset({"b", "a"}), again=True, stops=True)),
        Setup(Start.FORK, secret=b"\xff\0"),
        Spawned(12),
        Outcome("a", Verdict.FAILED, "no\ud800", "why", float("inf"), {"ops": 3}, (SPEED,), DeviceKind.SIM),
        Outcome("a", Verdict.PASSED),
        Done("printed"),
        Submission("Zo\udcff", {"double": ExerciseFiles({"double.py": b"\xff"}, Path("a"))}, "0", root=None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_comes_back(value: object) -> None:
    """With its bytes, its paths, its sets, and with text that is not valid Unicode."""
    assert from_json(type(value), to_json(value)) == value


def test_all_problems_are_listed_with_their_places() -> None:
    """Not only the first one."""
    plain = json.loads(to_json(Check("a", "double", "A"))) | {"shown": "perhaps", "share": [], "later": "a new key"}
    del plain["title"]
    with pytest.raises(FormatError) as caught:
        from_json(Check, json.dumps(plain), "row 3")
    places = [problem.split(": ")[:2] for problem in caught.value.problems]
    assert places == [["row 3", "title"], ["row 3", "share"], ["row 3", "shown"]]
    with pytest.raises(FormatError) as caught:
        from_json(Submission, json.dumps({"author": "a", "exercises": {f"e{n}": 1 for n in range(1000)}}), "it")
    assert len(caught.value.problems) == 51
    assert caught.value.problems[-1] == "it: and 950 more problems"


@pytest.mark.parametrize("text", ["", "{", "nul", "[" * 100_000, "1" * 5_000])
def test_what_is_not_json_is_refused(text: str) -> None:
    """With one sentence."""
    with pytest.raises(FormatError, match="row 3: "):
        from_json(Check, text, "row 3")
