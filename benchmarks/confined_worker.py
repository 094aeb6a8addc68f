"""What confinement costs: a worker at each level against a bare fork, interleaved in one run.

    python benchmarks/confined_worker.py [--rounds 40]
    taskset -c 0 python benchmarks/confined_worker.py

One round starts a worker, has it load a one-line submission, and ends it: at each level in turn, so that the machine's
moods meet all of them. Caps by control groups are part of `full`, where they can be had. `first reply` is the time from
asking for the worker to its first answer; `whole` is the time until the next one could be asked for, which holds the
work done ahead and after, as far as the machine has cores for it.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from grader.connection.connection import Connection
from grader.model import Limits
from grader.model.messages import Level
from grader.runner.promises import SandboxPlan
from grader.runner.worker_server import WorkerServer
from grader.sandbox import cgroup
from grader.worker_process.fork import ForkStarter

FILES = {"small.py": b"def small(x):\n    return x\n"}


def round_of(starter: ForkStarter) -> tuple[float, float]:
    started = time.perf_counter()
    connection = Connection(starter, "small", FILES, Limits())
    connection.names()
    replied = time.perf_counter()
    connection.close()
    return replied - started, time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    servers = {level: WorkerServer(SandboxPlan(most=level)) for level in Level}
    starters = {}
    times: dict[Level, tuple[list[float], list[float]]] = {level: ([], []) for level in Level}
    with tempfile.TemporaryDirectory() as folder:
        for level, server in servers.items():
            root = Path(folder, level.word)
            root.mkdir()
            assert server.wait_ready().level is level, server.wait_ready().missing(level)
            groups = cgroup.find() if level is Level.FULL else None
            starters[level] = ForkStarter(server.open_lane(0), root, groups)
        for number in range(rounds + 5):
            for level, starter in starters.items():
                reply, whole = block(starter)
                if number >= 5:
                    times[level][0].append(reply)
                    times[level][1].append(whole)
        for starter in starters.values():
            starter.close()
    for server in servers.values():
        server.close()
    bare = [statistics.median(column) for column in times[Level.NONE]]
    print("level      first reply, ms   over bare   whole, ms   over bare")
    for level, columns in times.items():
        cells = []
        for column, without in zip(columns, bare, strict=True):
            cells += [statistics.median(column) * 1000, (statistics.median(column) - without) * 1000]
        print(f"{level.word:10} {cells[0]:15.1f} {cells[1]:11.1f} {cells[2]:11.1f} {cells[3]:11.1f}")


def block(starter: ForkStarter, count: int = 5) -> tuple[float, float]:
    """Return the mean seconds to the first reply, and the mean seconds of a whole round, of rounds in a row.

    In a row, the whole includes work that is done ahead of need, such as forking spare workers.
    """
    started = time.perf_counter()
    replies = [round_of(starter)[0] for _ in range(count)]
    return statistics.mean(replies), (time.perf_counter() - started) / count


if __name__ == "__main__":
    main()
