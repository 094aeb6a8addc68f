"""What a worker without PyTorch costs, against one with it: interleaved in one run, as ratios.

    python benchmarks/plain_worker.py [--rounds 40]

An exercise with `without: [torch, numpy]` has workers of a second server, which has imported the standard library
alone. One round starts a worker of each kind, has it load a one-line submission and answer one call, and ends it.
Printed are the time from asking for the worker to its first answer, the time until the next one could be asked for, the
worker's CPU time, its memory, how much of that it shares with nobody, and the time that each server takes to start. The
ratios depend little on the machine.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from grader.connection.connection import Connection, proxy_of_name
from grader.model import Limits
from grader.runner.promises import SandboxPlan
from grader.runner.worker_server import WorkerServer
from grader.sandbox import clock
from grader.worker_process.fork import ForkStarter

FILES = {"small.py": b"def small(x):\n    return x\n"}
PACKAGES = ("torch", "numpy")


def round_of(starter: ForkStarter, without: tuple[str, ...]) -> dict[str, float]:
    """Start a worker, call a function in it, and end it; return its times and its memory by name."""
    started = time.perf_counter()
    connection = Connection(starter, "small", FILES, Limits(), without=without)
    connection.names()
    first = time.perf_counter()
    proxy_of_name(connection, "small")((2, 5))
    pid = connection.live_worker().pid
    rows = dict(line.split(":") for line in Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()[1:])
    memory = {name: int(text.split()[0]) / 1024 for name, text in rows.items()}
    cpu = clock.cpu_s(pid) or 0.0
    connection.close()
    return {
        "first answer, ms": 1000 * (first - started),
        "whole, ms": 1000 * (time.perf_counter() - started),
        "CPU time, ms": 1000 * cpu,
        "memory, MiB": memory["Rss"],
        "of its own, MiB": memory["Private_Clean"] + memory["Private_Dirty"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    servers, starts = {}, {}
    for name, is_plain in (("with", False), ("without", True)):
        before = time.perf_counter()
        servers[name] = WorkerServer(SandboxPlan(), is_plain=is_plain)
        servers[name].wait_ready()
        starts[name] = 1000 * (time.perf_counter() - before)
    rows: dict[str, list[dict[str, float]]] = {"with": [], "without": []}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a").mkdir()
        (Path(folder) / "b").mkdir()
        torch = ForkStarter(servers["with"].open_lane(0), Path(folder) / "a")
        plain_sockets = servers["without"].open_lane(0)
        plain = ForkStarter(servers["with"].open_lane(1), Path(folder) / "b", plain=plain_sockets)
        for number in range(rounds + 3):
            pair = {"with": round_of(torch, ()), "without": round_of(plain, PACKAGES)}
            for name, row in pair.items():
                if number >= 3:
                    rows[name].append(row)
        torch.close()
        plain.close()
    for server in servers.values():
        server.close()
    print(f"{'':20} {'with':>9} {'without':>9} {'ratio':>7}")
    for what in rows["with"][0]:
        one, other = (statistics.median(row[what] for row in rows[name]) for name in ("with", "without"))
        print(f"{what:20} {one:9.1f} {other:9.1f} {other / one if one else 0:7.2f}")
    print(f"{'server, ms':20} {starts['with']:9.0f} {starts['without']:9.0f} {starts['without'] / starts['with']:7.2f}")


if __name__ == "__main__":
    main()
