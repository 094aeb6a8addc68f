"""`python -m grader.check [FD]`: a check process. It talks with the host over its standard streams, in frames.

With a descriptor, workers are forked by the worker server behind that socket; without, they are spawned.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.model import Check, Limits, Outcome
from grader.sweep import sweep
from grader.wire.frames import Channel, ChannelClosed, Frame
from grader.wire.transport import PipeTransport

if TYPE_CHECKING:
    from grader.check.accelerator import Accelerator


def main() -> None:
    """Collect, then grade until the host closes the channel."""
    channel = _take_over_streams()
    try:
        plan = channel.receive().tree
    except ChannelClosed:
        return
    import torch
    from torch.utils.backend_registration import rename_privateuse1_backend

    torch.set_num_threads(1)
    rename_privateuse1_backend("sim")  # so that a check can name the devices of a simulated accelerator

    from grader.check.accelerator import Accelerator
    from grader.check.self_test import self_test
    from grader.check.session import PlannedExercise, run_session
    from grader.check.start import ForkStarter, SpawnStarter
    from grader.check.workers import Starter
    from grader.confine import cgroup

    root = Path(plan["root"])
    accelerator = Accelerator()
    if plan["device"] == "cuda":
        accelerator = Accelerator("cuda", torch.cuda.device_count())
    host = _Host(channel, accelerator)
    starter: Starter
    if len(sys.argv) > 1:
        groups = cgroup.find()
        if groups is not None:
            groups.sweep()
        starter = ForkStarter(socket.socket(fileno=int(sys.argv[1])), root, groups)
    else:
        starter = SpawnStarter(root, plan["spawn"], host.spawned, roomy=plan["device"] == "cuda")
    try:
        planned = [
            PlannedExercise(
                item["id"],
                _path(item["shown_checks"]),
                _path(item["hidden_checks"]),
                tuple(Path(path) for path in item["probes"]),
                _path(item["reference"]),
                item["contract"],
                Limits(**item["limits"]),
            )
            for item in plan["exercises"]
        ]
        self_test(starter)
        run_session(host, planned, starter, accelerator=accelerator)
    finally:
        starter.close()
        sweep(str(root))  # the host does it too, unless it was killed


def _take_over_streams() -> Channel:
    """Keep the channel to the host for ourselves; whatever else writes to standard output writes to standard error."""
    read_fd, write_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    if sys.platform == "win32":
        import msvcrt

        for fd in (read_fd, write_fd):
            msvcrt.setmode(fd, os.O_BINARY)
    return Channel(PipeTransport(read_fd, write_fd))


class _Host:
    """The host, at the other end of the channel."""

    def __init__(self, channel: Channel, accelerator: Accelerator) -> None:
        self._channel = channel
        self._accelerator = accelerator
        self._number = 0

    def collected(self, checks: list[Check], problems: dict[str, str]) -> None:
        told = {"checks": [vars(check) for check in checks], "problems": problems}
        self._channel.send(0, {**told, "devices": self._accelerator.count})

    def spawned(self, pid: int) -> None:
        self._channel.send(0, {"spawned": pid})

    def next_job(self) -> Any:
        from grader.check.reproduce import Keep
        from grader.check.session import Job

        try:
            frame = self._channel.receive()
        except ChannelClosed:
            return None
        self._number = frame.number
        tree = frame.tree
        keep = Keep(Path(tree["keep"][0]), *tree["keep"][1:]) if tree["keep"] else None
        only = frozenset(tree["only"]) if tree.get("only") is not None else None
        return Job(tree["exercise"], _files(frame), tree["seed"], keep, only)

    def outcome(self, outcome: Outcome) -> None:
        self._channel.send(self._number, {"outcome": outcome.to_plain()})

    def done(self, output: str) -> None:
        self._channel.send(self._number, {"done": True, "output": output})


def _files(frame: Frame) -> dict[str, bytes]:
    return {name: bytes(frame.data[start : start + size]) for name, start, size in frame.tree["files"]}


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


if __name__ == "__main__":
    main()
