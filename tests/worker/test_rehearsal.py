"""What a worker does ahead of need."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

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
