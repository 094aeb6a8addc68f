"""How often a call is encoded, and what is made of the one message."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.check.calls import call_seeded
from grader.connection.connection import Connection, proxy_of_name
from grader.connection.record import Record
from grader.model import Limits
from grader.wire.containers import PlainEncoder
from grader.wire.frames import Channel
from grader.wire.transport import SocketTransport
from grader.worker import serve
from grader.worker.with_torch import WithTorch
from grader.worker_process.process import WorkerProcess
from grader.worker_process.starter import Starter

WORK = b"def spoil(x, y=None):\n    x.add_(1)\n    return x\n"


class InThread(Starter):
    """Starts workers that are threads of this process, so that both ends can be watched."""

    def start_worker(
        self, limits: Limits, *, spared: bool = False, simulates: bool = False, without_torch: bool = False
    ) -> WorkerProcess:
        """A thread that answers requests."""
        del spared, simulates, without_torch
        ours, theirs = socket.socketpair()
        folder, output = self.new_folder_and_output()

        def run() -> None:
            with closing(Channel(SocketTransport(theirs), trusts=True)) as channel:
                serve.serve(channel, str(folder), WithTorch())

        threading.Thread(target=run, daemon=True).start()
        return WorkerProcess(Channel(SocketTransport(ours)), 0, folder, output, limits, waiting=self.waiting)


class Counted:
    """How often the asking end encoded values."""

    def __init__(self) -> None:
        self.count = 0


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """Counts what the asking end encodes."""
    counted, encode = Counted(), PlainEncoder.encode

    def counting(encoder: PlainEncoder, values: Any) -> Any:
        counted.count += not encoder._answers
        return encode(encoder, values)

    monkeypatch.setattr(PlainEncoder, "encode", counting)
    return counted


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    """A student's connection that has loaded."""
    monkeypatch.setattr(serve, "_install_stop_handlers", lambda: None)  # signals: for a main thread only
    with closing(Connection(InThread(tmp_path), "work", {"work.py": WORK}, Limits())) as student:
        student.names()
        yield student


@pytest.mark.parametrize("copying", [False, True])
@pytest.mark.parametrize("recording", [False, True])
def test_a_call_is_encoded_once(connection: Connection, encoded: Counted, copying: bool, recording: bool) -> None:
    """Whether its calls are kept for the report or not, and whether student code gets copies or not."""
    connection.begin_check(Record(copying=copying, recording=recording))
    x = torch.zeros(2)
    proxy_of_name(connection, "spoil")(x, y=[x])
    assert encoded.count == 1
    assert x.tolist() == ([0, 0] if copying else [1, 1])
    assert len(connection.record.sent) == recording


def test_a_call_of_the_reference_is_encoded_once(connection: Connection, encoded: Counted, tmp_path: Path) -> None:
    """The message has the arguments as they were before student code changed them, and changes none of the check's."""
    (tmp_path / "other").mkdir()
    reference = Connection(InThread(tmp_path / "other"), "work", {"work.py": WORK}, Limits(), "the reference's")
    reference.student = connection
    with closing(reference):
        reference.names()
        x = torch.zeros(2)
        proxy_of_name(connection, "spoil")(x)
        before = encoded.count
        result = proxy_of_name(reference, "spoil")(x)
    assert encoded.count == before + 1
    assert (result.tolist(), x.tolist()) == ([1, 1], [1, 1])
    assert result is not x


def test_what_is_kept_is_what_was_sent(connection: Connection) -> None:
    """Its arguments are read later as they were, share memory as they did, and are made anew by each reading."""
    connection.begin_check(Record(recording=True))
    x = torch.zeros(2)
    proxy_of_name(connection, "spoil")(x, y=x[1:])
    call_seeded(3, proxy_of_name(connection, "spoil"), x, y=None)
    x.fill_(7)
    first, second = connection.record.calls()
    assert (first.name, first.args[0].tolist(), first.kwargs["y"].tolist()) == ("spoil", [0, 0], [0])
    assert (second.args[0].tolist(), second.kwargs) == ([1, 1], {"y": None})
    first.args[0][1] = 5
    assert first.kwargs["y"].tolist() == [5]
    assert connection.record.calls()[0].args[0].tolist() == [0, 0]
