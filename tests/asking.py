"""For tests of what checks say: functions in real workers, without a check process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grader.check.start import ForkStarter, SpawnStarter
from grader.check.student import Party, RemoteFunction
from grader.check.workers import Sitting, Starter
from grader.confinement import Wish
from grader.grading import open_source
from grader.model import Limits
from grader.source import FreshInterpreters, WorkerServer

Function = Callable[..., RemoteFunction]


@contextmanager
def open_starter(start: str, root: Path) -> Iterator[Starter]:
    """Starts workers in one of the two ways; spawned ones share no memory with us."""
    with open_source(start, Wish()) as source:
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
        return RemoteFunction(Party(sittings[-1]), name)

    yield make
    for sitting in sittings:
        sitting.close()
