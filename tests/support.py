"""For tests of what checks say: functions in real workers, without a check process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grader.lanes.source import FreshInterpreters, WorkerServer, open_source
from grader.lanes.walls import WallPlan
from grader.model import Limits
from grader.remote.fork import ForkStarter
from grader.remote.side import Side
from grader.remote.sitting import Sitting
from grader.remote.spawn import SpawnStarter
from grader.remote.student import RemoteFunction
from grader.remote.worker import Starter

Function = Callable[..., RemoteFunction]


@contextmanager
def open_starter(start: str, root: Path) -> Iterator[Starter]:
    """Starts workers in one of the two ways; spawned ones share no memory with us."""
    with open_source(start, WallPlan()) as source:
        starter: ForkStarter | SpawnStarter
        if isinstance(source, WorkerServer):
            starter = ForkStarter(source.open_lane(0), root)
            source.wait_ready()
        else:
            assert isinstance(source, FreshInterpreters)
            starter = SpawnStarter(root, source.command, lambda pid: None)
        try:
            yield starter
        finally:
            starter.close()


@contextmanager
def functions(starter: Starter) -> Iterator[Function]:
    """Makes functions of modules that are given as text. Their workers end with it."""
    sittings = []

    def make(
        text: str, name: str = "total", owner: str = "your", device: str = "none", **limits: Any
    ) -> RemoteFunction:
        files = {"work.py": ("import os, torch\n" + text).encode()}
        sittings.append(Sitting(starter, "work", files, Limits(**limits), owner, device=device))
        return RemoteFunction(Side(sittings[-1]), name)

    yield make
    for sitting in sittings:
        sitting.close()
