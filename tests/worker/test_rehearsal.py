"""What a worker, and the server that it is forked from, do ahead of need."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
import torch

from grader.process.start import clean_environment
from grader.wire.frames import Frame
from grader.wire.requests import Replies, Reply
from grader.worker.rehearsal import rehearse
from grader.worker.serve import Submission


def test_a_rehearsal_goes_the_whole_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its requests are answered as those of a check are: results with their memory, and an error with its line."""
    replies: list[tuple[Reply, list[bytes]]] = []
    answers = Submission.answers

    def noted(self: Submission, frame: Frame) -> Iterator[tuple[Reply | Replies, list[bytes]]]:
        for reply, data in answers(self, frame):
            assert isinstance(reply, Reply)
            replies.append((reply, data))
            yield reply, data

    monkeypatch.setattr(Submission, "answers", noted)
    state = torch.get_rng_state()
    rehearse()
    torch.set_rng_state(state)
    assert [reply.raised is None for reply, _ in replies] == [True, True, False]
    assert all(data and reply.unsupported is None for reply, data in replies)


WARM = """
import os, random, sys
import numpy as np, torch
from grader.worker import rehearsal, unset

torch.set_num_threads(1)
np.random.seed(5)

def states():
    return torch.get_rng_state().tolist(), str(np.random.get_state()), random.getstate()

asked = []
unset.fill, before = asked.append, states()
rehearsal.warm_up()
assert states() == before
assert asked[-1] is False and torch.is_grad_enabled()
print(len(os.listdir("/proc/self/task")))
for run in rehearsal._OPERATORS:
    run(torch.ones(4, 4))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc; there is a server on Linux alone")
def test_a_warm_server_has_one_thread() -> None:
    """All operators run, none leaves a thread or spends a warning of PyTorch's, and generators are as they were."""
    environment = {**os.environ, **clean_environment()}
    command = [sys.executable, "-W", "always", "-c", WARM]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.stdout, done.stderr) == ("1\n", "")
