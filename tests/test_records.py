"""Records come back as they were, whatever process they are told to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.model import Check, Device, Limits, Outcome, Speed, Verdict
from grader.model.messages import (
    Collected,
    Done,
    Job,
    Message,
    Part,
    Plan,
    PlannedExercise,
    Spawned,
    from_frame,
    to_frame,
)
from grader.sandbox import messages
from grader.sandbox.levels import Level
from grader.sandbox.limits import WorkerLimits
from grader.sandbox.messages import Birth, Launched, LaunchPlan, StartWorker, Targets
from grader.sandbox.records import to_plain
from grader.sandbox.view import View

TARGETS = Targets("file", "folder", 1, 2, "name", 3)
SPEED = Speed("told", "against", 1.5, 1.0, None, 2.0, 0.1, 0.2, 3, 4)


@pytest.mark.parametrize(
    "message",
    [
        Plan(
            Path("/tmp/x"),
            ("python", "-I"),
            Device.SIM,
            (PlannedExercise("double", Path("a.py"), None, (Path("p.py"),), None, {"C1": "rule"}, Limits(call_s=2)),),
        ),
        Collected(
            (Check("a", "double", "A", device=Device.CUDA),), {"total": "does not load"}, 2, ("check_a.py:3: x",)
        ),
        Job("double", {"double.py": b"x = 1\n", "empty.py": b"", "b.py": b"\x00\xff"}, 7),
        Job("double", {}, 7, "../k", Part(frozenset({"b", "a"}), again=True, stops=True)),
        Spawned(12),
        Outcome("a", Verdict.FAILED, "no", "why", 0.5, {"ops": 3}, (SPEED,), Device.SIM),
        Outcome("a", Verdict.PASSED),
        Done("printed"),
    ],
    ids=lambda message: type(message).__name__,
)
def test_what_host_and_check_process_say_comes_back(message: Message) -> None:
    """Through JSON, with the bytes beside it in one piece."""
    tree, data = to_frame(message)
    assert from_frame(json.loads(json.dumps(tree)), memoryview(b"".join(data))) == message


@pytest.mark.parametrize(
    "message",
    [
        LaunchPlan(View(("/usr",), ("/home",)), ("python",), True, Level.REDUCED),
        Launched("no", ("/usr", "/lib"), None, None),
        Launched(proc=3, boxes=4),
        StartWorker("/w1", WorkerLimits(1, 2, 3, 4), True),
        Birth("/w1", WorkerLimits(1, 2, 3, 4), TARGETS),
        messages.TryWall(TARGETS, ("a", "b")),
        messages.Confined(),
    ],
    ids=lambda message: type(message).__name__,
)
def test_what_is_said_at_a_birth_comes_back(message: messages.Message) -> None:
    """As the argument of a command, as a datagram, and as a frame."""
    assert messages.from_text(messages.to_text(message)) == message
    assert messages.from_tree(json.loads(json.dumps(messages.to_tree(message)))) == message


def test_bytes_need_a_place() -> None:
    """A record with bytes is not told without them."""
    with pytest.raises(TypeError, match="needs a place"):
        to_plain(Job("double", {"double.py": b"x"}, 0))
