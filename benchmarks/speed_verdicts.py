"""How often a speed verdict is wrong, on a machine that others use too: a table of verdicts by true ratio and load.

A pretend student's function does the same work as a pretend reference, a known number of times more or less often, so
that the true ratio is known. The limit is 2. Each verdict is taken as a check takes it, by `as_fast_as`, with forked
workers. Four kinds of work take turns: long vectors, short operations with a mask, single elements, small products.

idle      nothing else runs that we start
one core  one process spins
twice     two processes for each core: half of them spin, half of them write through 4 MiB over and over
bursty    two such for each core, which sleep and work for 2 to 300 ms in turns

Every verdict is a line in a file; a run that was interrupted goes on where it ended.

    python benchmarks/speed_verdicts.py run first.jsonl --verdicts 100
    python benchmarks/speed_verdicts.py table first.jsonl
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LIMIT = 2.0
REFERENCE_TIMES = 60
RATIOS = (0.5, 0.75, 0.8, 1.25, 1.33, 2.0)
SIZES = {"long": 20_000, "mask": 4_000, "single": 100, "product": 8_192}

WORK = """
import torch


def long(x):
    for _ in range({times}):
        y = x * 1.5
    return y.sum()


def mask(x):
    for _ in range({times}):
        y = x[x > 0.0].square().sum()
    return y


def single(x):
    total = x.new_zeros(())
    for _ in range(4 * {times}):
        total = total * 0.5 + x[3]
    return total


def product(x):
    a = x[:4096].view(64, 64)
    for _ in range({times}):
        y = a @ a
    return y.sum()
"""

ALIVE = "import os, random, time\nparent = os.getppid()\nx = bytearray(1 << 22)\nwhile os.getppid() == parent:\n"
SPIN = ALIVE + "    for _ in range(10**6): pass\n"
WRITE = ALIVE + "    for _ in range(100): x[:] = bytes(1 << 22)\n"
BURST = (
    ALIVE
    + "    until = time.monotonic() + random.uniform(0.002, 0.3)\n"
    + "    while time.monotonic() < until: x[:] = bytes(1 << 22)\n"
    + "    time.sleep(random.uniform(0.002, 0.3))\n"
)
"""Loads end with the process that started them, however that ends."""


def loads() -> dict[str, list[str]]:
    """What runs beside us, by the name of the load."""
    cores = os.cpu_count() or 1
    return {"idle": [], "one core": [SPIN], "twice": [SPIN, WRITE] * cores, "bursty": [BURST] * (2 * cores)}


@contextlib.contextmanager
def busy(programs: list[str]) -> Iterator[None]:
    spinners = [subprocess.Popen([sys.executable, "-I", "-S", "-c", text]) for text in programs]
    try:
        time.sleep(0.2 if programs else 0.0)
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def run(path: Path, verdicts: int) -> None:
    """Take verdicts, a round of each load in turn, until each cell has enough."""
    import torch

    torch.set_num_threads(1)

    from grader.lanes.source import WorkerServer
    from grader.lanes.walls import WallPlan
    from grader.remote.fork import ForkStarter

    done = collections.Counter((row["load"], row["ratio"], row["kind"]) for row in read(path))
    wanted = -(-verdicts // len(SIZES))
    server = WorkerServer(WallPlan())
    with tempfile.TemporaryDirectory() as folder, path.open("a", encoding="utf-8") as file:
        starter = ForkStarter(server.open_lane(0), Path(folder))
        server.wait_ready()
        for number in range(wanted):
            for load, programs in loads().items():
                cells = [(ratio, kind) for ratio in RATIOS for kind in SIZES if done[load, ratio, kind] <= number]
                with busy(programs if cells else []):
                    for ratio, kind in cells:
                        row = {"load": load, "ratio": ratio, "kind": kind, **verdict(starter, ratio, kind)}
                        file.write(json.dumps(row) + "\n")
                        file.flush()
            print(f"round {number + 1} of {wanted}", flush=True)
        starter.close()
    server.close()


def verdict(starter: Any, ratio: float, kind: str) -> dict[str, Any]:
    """One verdict, with what it cost."""
    import torch

    from grader.check.speed import as_fast_as
    from grader.model.endings import CheckFailed, Inconclusive

    mine = function(starter, kind, round(LIMIT * ratio * REFERENCE_TIMES), "your")
    reference = function(starter, kind, REFERENCE_TIMES, "the reference's")
    started = time.perf_counter()
    try:
        as_fast_as(mine, reference, lambda n: (torch.randn(max(n, 4096)),), size=SIZES[kind], at_most=LIMIT)
        told = "passed"
    except CheckFailed:
        told = "failed"
    except Inconclusive:
        told = "inconclusive"
    seconds = time.perf_counter() - started
    row = mine.side.speed[-1]
    told_row = {name: getattr(row, name) for name in ("ratio", "low", "high", "calls", "pairs")}
    return {
        "verdict": told,
        "seconds": round(seconds, 3),
        "found": told_row,
        "loadavg": round(os.getloadavg()[0], 1),
        "at": round(time.time(), 1),
    }


def function(starter: Any, kind: str, times: int, owner: str) -> Any:
    from grader.model import Limits
    from grader.remote.side import Side
    from grader.remote.student import RemoteFunction

    files = {"work.py": WORK.replace("{times}", str(times)).encode()}
    return RemoteFunction(Side.of(starter, "work", files, Limits(), owner), kind)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def table(path: Path) -> None:
    """The table, in Markdown."""
    cells = collections.defaultdict(list)
    for row in read(path):
        cells[row["load"], row["ratio"]].append(row)
    print("| load | true ratio / limit | verdicts | wrong | inconclusive | median s | 95 % s | pairs |")
    print("|---|---|---|---|---|---|---|---|")
    for load in loads():
        for ratio in RATIOS:
            rows = cells[load, ratio]
            if rows:
                print(f"| {load} | {ratio:g} | {' | '.join(summary(rows, 'passed' if ratio < 1 else 'failed'))} |")
    rows = [row for cell in cells.values() for row in cell]
    wrong = sum(is_wrong(row) for row in rows)
    unsure = sum(row["verdict"] == "inconclusive" for row in rows)
    print(f"\n{len(rows)} verdicts, {wrong} wrong, {unsure} inconclusive, {os.cpu_count()} cores")


def is_wrong(row: dict[str, Any]) -> bool:
    return str(row["verdict"]) == ("failed" if row["ratio"] < 1 else "passed")


def summary(rows: list[dict[str, Any]], right: str) -> list[str]:
    seconds = sorted(row["seconds"] for row in rows)
    unsure = sum(row["verdict"] == "inconclusive" for row in rows)
    wrong = sum(row["verdict"] not in (right, "inconclusive") for row in rows)
    pairs = statistics.fmean(row["found"]["pairs"] for row in rows)
    times = f"{statistics.median(seconds):.2f}", f"{seconds[int(0.95 * len(seconds))]:.2f}"
    return [str(len(rows)), str(wrong), str(unsure), *times, f"{pairs:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--verdicts", type=int, default=100, help="for each true ratio under each load")
    options = parser.parse_args()
    if options.what == "run":
        run(options.file, options.verdicts)
    table(options.file)


if __name__ == "__main__":
    main()
