"""How many Python functions, in which files, one call of a student's function goes through, on both sides.

    python tools/frames_of_a_call.py [--files] [--functions]

The worker's loop runs in a thread of this process, so that both sides can be watched; nothing is timed. A *frame* is
one call of a Python function, a comprehension or a step of a generator.
"""

from __future__ import annotations

import argparse
import socket
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import torch

import grader
from grader.check_process.checks import InputStream
from grader.connection.connection import Connection, proxy_of_name
from grader.connection.record import Record
from grader.model import Check, Limits
from grader.wire.frames import Channel
from grader.wire.transport import SocketTransport
from grader.worker import serve
from grader.worker.with_torch import WithTorch
from grader.worker_process.process import WorkerProcess
from grader.worker_process.starter import Starter

_PACKAGE = str(Path(grader.__file__).parent)
_STUDENT = b"def same(x):\n    return x * 2\n"


class Watch:
    """Counts the frames of one thread while it is on."""

    def __init__(self) -> None:
        self.on = False
        self.frames: Counter[tuple[str, str]] = Counter()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if self.on and event == "call":
            self.frames[frame.f_code.co_filename, frame.f_code.co_qualname] += 1


class InThread(Starter):
    """Starts workers that are threads of this process."""

    def __init__(self, root: Path, watch: Watch) -> None:
        super().__init__(root)
        self._watch = watch

    def start_worker(
        self, limits: Limits, *, spared: bool = False, simulates: bool = False, without_torch: bool = False
    ) -> WorkerProcess:
        """Start a thread of this process that answers requests as a worker does."""
        del spared, simulates, without_torch
        ours, theirs = socket.socketpair()
        folder, output = self._root / "worker", self._root / "output"
        folder.mkdir()
        output.touch()

        def run() -> None:
            sys.setprofile(self._watch)
            serve.serve(Channel(SocketTransport(theirs), trusts=True), str(folder), WithTorch())

        threading.Thread(target=run, daemon=True).start()
        return WorkerProcess(Channel(SocketTransport(ours)), 0, folder, output, limits, waiting=self.waiting)

    def close(self) -> None:
        """Do nothing: no spare worker is kept."""


def frames_of(*args: Any) -> tuple[Watch, Watch]:
    """Return the frames of a call with these arguments: of the check's side, and of the worker's."""
    mine, theirs = Watch(), Watch()
    with tempfile.TemporaryDirectory() as root:
        serve._install_stop_handlers = lambda: None  # which sets a signal handler, as only the main thread may do
        connection = Connection(InThread(Path(root), theirs), "work", {"work.py": _STUDENT}, Limits())
        same = proxy_of_name(connection, "same")
        for _ in range(3):  # the first call loads, and seeds generators
            same(*args)
        # As in a session, where a worker that learns of inputs learns nothing of later ones.
        connection.begin_check(Record(renew=InputStream(0, Check("same", "work", "same")).renew))
        same(*args)
        sys.setprofile(mine)
        mine.on = theirs.on = True
        same(*args)
        mine.on = theirs.on = False
        sys.setprofile(None)
    return mine, theirs


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="the files that the call with a tensor goes through")
    parser.add_argument("--functions", action="store_true", help="the functions, with how often each is called")
    options = parser.parse_args()
    for name, args in (("an int", (3,)), ("a tensor", (torch.ones(10),)), ("a list of 10 ints", ([1] * 10,))):
        mine, theirs = frames_of(*args)
        counts = mine.frames.total(), theirs.frames.total()
        print(f"{name:20s} {sum(counts):4d} frames: {counts[0]} in the check process, {counts[1]} in the worker")
        if name == "a tensor":
            files = sorted({file for watch in (mine, theirs) for file, _ in watch.frames if file.startswith(_PACKAGE)})
            print(f"{'':20s} {len(files):4d} files of ours")
            if options.files:
                print(*(f"    {Path(file).relative_to(_PACKAGE)}" for file in files), sep="\n")
            if options.functions:
                for title, watch in (("check process", mine), ("worker", theirs)):
                    print(f"  {title}")
                    for (file, function), times in watch.frames.most_common():
                        print(f"    {times:3d}  {Path(file).name}: {function}")


if __name__ == "__main__":
    main()
