"""What is said around the start of a worker comes back as it was said."""

from __future__ import annotations

import json

import pytest

from grader.sandbox import messages
from grader.sandbox.limits import WorkerLimits
from grader.sandbox.messages import Launched, LaunchPlan, StartWorker, Targets
from grader.sandbox.view import View

TARGETS = Targets("file", "folder", 1, 2, "name", 3)


@pytest.mark.parametrize(
    "message",
    [
        LaunchPlan(View(("/usr",), ("/home",)), ("python",), False, True),
        Launched("no", ("/usr", "/lib"), None, None),
        Launched(proc=3, sets=4),
        StartWorker("/w1", WorkerLimits(1, 2, 3, 4), True),
        messages.TryOut(TARGETS, ("a", "b")),
    ],
    ids=lambda message: type(message).__name__,
)
def test_messages_come_back(message: messages.Message) -> None:
    """As the argument of a command, as a datagram, and as a frame."""
    assert messages.from_text(messages.to_text(message)) == message
    assert messages.from_tree(json.loads(json.dumps(messages.to_tree(message)))) == message
