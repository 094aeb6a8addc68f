"""How often a speed verdict is wrong, on a machine that others use too: a table of verdicts by true ratio and load.

A pretend student's function does the same work as a pretend reference, a known number of times more or less often, so
that the true ratio is known. The limit is 2. Each verdict is taken as a check takes it, by `assert_cpu_time_ratio`,
with forked workers. Four kinds of work take turns: long vectors, short operations with a mask, single elements, small
products.

idle      nothing else runs that we start
one core  one process spins
twice     two processes for each core: half of them spin, half of them write through 4 MiB over and over
bursty    two such for each core, which sleep and work for 2 to 300 ms in turns

Every verdict is a line in a file; a run that was interrupted goes on where it ended.

    python tools/speed_verdicts.py run first.jsonl --verdicts 100
    python tools/speed_verdicts.py table first.jsonl

With `--far`, the truth is far from the limit, calls take 0.05 to 50 ms, and there are more loads. A right answer may be
lost here too, if a call is so short that a cold cache is most of it.

full      one process for each core spins
memory    one for each core copies 64 MB over and over
imports   one for each core starts processes that import torch
starts    one for each core starts processes that do nothing
eight     eight processes, half of them spin, half of them write

    python tools/speed_verdicts.py run far.jsonl --far --verdicts 4 --minutes 10
    python tools/speed_verdicts.py table far.jsonl --far
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
REPEATS = 2
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
COPY = ALIVE.replace("import os,", "import numpy, os,") + "    x = numpy.ones(1 << 23); y = x.copy(); x[:] = y\n"
STARTED = "    subprocess.run([sys.executable, '-I', '-c', {text!r}], check=False)\n"
START = ALIVE.replace("import os,", "import subprocess, sys, os,") + STARTED
"""Loads end with the process that started them, however that ends."""

FAR = {
    "1:1000, 100 times faster": (0.05, 50.0, 0.01),
    "1:10, 100 times faster": (5.0, 50.0, 0.01),
    "1:1 of 0.05 ms": (0.05, 0.05, 3.5),
    "1:1 of 1 ms": (1.0, 1.0, 3.5),
    "1:1 of 50 ms": (50.0, 50.0, 3.5),
    "30:1 of 0.05 ms": (1.5, 0.05, 3.5),
    "1000:1": (50.0, 0.05, 3.5),
}
"""Milliseconds of both sides, roughly, and the limit of their ratio. To take the argument over is work, too: of the
shortest calls it is as much again, so that their true ratio is about half of what stands here."""

TIMES_PER_MS = 100


def loads() -> dict[str, list[str]]:
    """Return the programs that run beside a measurement, by the name of the load."""
    cores = os.cpu_count() or 1
    return {"idle": [], "one core": [SPIN], "twice": [SPIN, WRITE] * cores, "bursty": [BURST] * (2 * cores)}


def far_loads() -> dict[str, list[str]]:
    """Return the programs that run beside a measurement of a ratio far from the limit, by the name of the load."""
    cores = os.cpu_count() or 1
    return {
        "idle": [],
        "full": [SPIN] * cores,
        "bursty": [BURST] * (2 * cores),
        "memory": [COPY] * cores,
        "imports": [START.format(text="import torch")] * cores,
        "starts": [START.format(text="pass")] * cores,
        "eight": [SPIN, WRITE] * 4,
    }


@contextlib.contextmanager
def busy(programs: list[str]) -> Iterator[None]:
    spinners = [subprocess.Popen([sys.executable, "-I", "-c", text]) for text in programs]
    try:
        time.sleep(0.2 if programs else 0.0)
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def run(path: Path, verdicts: int, minutes: float, *, far: bool) -> None:
    """Take speed verdicts under each load in turn, until each cell of the table has enough or the time is over."""
    import torch

    torch.set_num_threads(1)

    from grader.runner.promises import SandboxPlan
    from grader.runner.worker_server import WorkerServer
    from grader.worker_process.fork import ForkStarter

    done = collections.Counter((row["load"], row["ratio"], row["kind"]) for row in read(path))
    until = time.monotonic() + 60 * minutes
    wanted = verdicts if far else -(-verdicts // len(SIZES))
    pairs = [(name, "far") for name in FAR] if far else [(ratio, kind) for ratio in RATIOS for kind in SIZES]
    server = WorkerServer(SandboxPlan())
    with tempfile.TemporaryDirectory() as folder, path.open("a", encoding="utf-8") as file:
        starter = ForkStarter(server.open_lane(0), Path(folder))
        server.wait_ready()
        for number in range(wanted):
            for load, programs in (far_loads() if far else loads()).items():
                cells = [cell for cell in pairs if done[load, *cell] <= number and time.monotonic() < until]
                with busy(programs if cells else []):
                    for ratio, kind in cells:
                        if time.monotonic() > until:
                            break
                        found = verdict(*sides_of(starter, ratio, kind))
                        row = {"load": load, "ratio": ratio, "kind": kind, **found}
                        file.write(json.dumps(row) + "\n")
                        file.flush()
            print(f"round {number + 1} of {wanted}", flush=True)
        starter.close()
    server.close()


def sides_of(starter: Any, ratio: float | str, kind: str) -> tuple[Any, Any, float, int]:
    """Return both functions of a cell of the table, the limit of their ratio, and the size of their input."""
    if isinstance(ratio, str):
        mine, other, limit = FAR[ratio]
        times = [max(1, round(ms * TIMES_PER_MS)) for ms in (mine, other)]
        kind, size = "long", 10_000
    else:
        times, limit, size = [round(LIMIT * ratio * REFERENCE_TIMES), REFERENCE_TIMES], LIMIT, SIZES[kind]
    names = "your", "the reference's"
    mine, reference = (function(starter, kind, count, owner) for count, owner in zip(times, names, strict=True))
    return mine, reference, limit, size


def verdict(mine: Any, reference: Any, limit: float, size: int) -> dict[str, Any]:
    """Measure two functions and return the verdict and its cost; measure again what fails or is undecided at first.

    A batch does so later, when the load may be another one. Here it is the same, which is harder.
    """
    from grader.connection.connection import connection_of

    record, started = connection_of(mine).record, time.perf_counter()
    record.unconfirmed = True
    told = again = attempt(mine, reference, limit, size)
    if told == "inconclusive":
        record.unconfirmed = False
        for _ in range(REPEATS):
            told = attempt(mine, reference, limit, size)
            if told != "inconclusive":
                break
    seconds = time.perf_counter() - started
    row = record.speed[-1]
    told_row = {name: getattr(row, name) for name in ("ratio", "low", "high", "calls", "pairs")}
    return {
        "verdict": told,
        "again": again == "inconclusive",
        "seconds": round(seconds, 3),
        "found": told_row,
        "loadavg": round(os.getloadavg()[0], 1),
        "at": round(time.time(), 1),
    }


def attempt(mine: Any, reference: Any, limit: float, size: int) -> str:
    import torch

    from grader.check.ratios import assert_cpu_time_ratio
    from grader.model.endings import CheckFailed, Inconclusive

    try:
        assert_cpu_time_ratio(mine, reference, lambda n: (torch.randn(max(n, 4096)),), size=size, at_most=limit)
    except CheckFailed:
        return "failed"
    except Inconclusive:
        return "inconclusive"
    return "passed"


def function(starter: Any, kind: str, times: int, owner: str) -> Any:
    from grader.connection.connection import Connection, proxy_of_name
    from grader.model import Limits

    files = {"work.py": WORK.replace("{times}", str(times)).encode()}
    return proxy_of_name(Connection(starter, "work", files, Limits(), owner), kind)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def table(path: Path, *, far: bool) -> None:
    """Print the table in Markdown."""
    cells = collections.defaultdict(list)
    for row in read(path):
        cells[row["load"], row["ratio"]].append(row)
    print("| load | true ratio / limit | verdicts | wrong | inconclusive | again | median s | 95 % s | pairs |")
    print("|---|---|---|---|---|---|---|---|---|")
    for load in far_loads() if far else loads():
        for ratio in FAR if far else RATIOS:
            rows = cells[load, ratio]
            if rows:
                print(f"| {load} | {ratio} | {' | '.join(summary(rows, right_for(ratio)))} |")
    rows = [row for cell in cells.values() for row in cell]
    wrong = sum(is_wrong(row) for row in rows)
    unsure = sum(row["verdict"] == "inconclusive" for row in rows)
    print(f"\n{len(rows)} verdicts, {wrong} wrong, {unsure} inconclusive, {os.cpu_count()} cores")


def is_wrong(row: dict[str, Any]) -> bool:
    return row["verdict"] not in (right_for(row["ratio"]), "inconclusive")


def right_for(ratio: float | str) -> str:
    """Return the verdict, "passed" or "failed", that is right for a cell of the table."""
    if isinstance(ratio, str):
        mine, other, limit = FAR[ratio]
        return "passed" if mine / other < limit else "failed"
    return "passed" if ratio < 1 else "failed"


def summary(rows: list[dict[str, Any]], right: str) -> list[str]:
    seconds = sorted(row["seconds"] for row in rows)
    unsure = sum(row["verdict"] == "inconclusive" for row in rows)
    wrong = sum(row["verdict"] not in (right, "inconclusive") for row in rows)
    pairs = statistics.fmean(row["found"]["pairs"] for row in rows)
    again = sum(row.get("again", False) for row in rows)
    times = f"{statistics.median(seconds):.2f}", f"{seconds[int(0.95 * len(seconds))]:.2f}"
    return [str(len(rows)), str(wrong), str(unsure), str(again), *times, f"{pairs:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--verdicts", type=int, default=100, help="for each true ratio under each load")
    parser.add_argument("--minutes", type=float, default=1e6, help="then no further verdict is begun")
    parser.add_argument("--far", action="store_true", help="truths far from the limit, short calls, more loads")
    options = parser.parse_args()
    if options.what == "run":
        run(options.file, options.verdicts, options.minutes, far=options.far)
    table(options.file, far=options.far)


if __name__ == "__main__":
    main()
