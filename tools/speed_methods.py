"""Which way to a speed verdict errs least: recorded laps, judged afterwards in several ways.

`record` starts pairs of workers under each load of `speed_verdicts.py` and writes down all their laps: CPU time and
wall time of both sides. The true ratio of each pair is known. `replay` draws pairs of one load and one kind of work at
random, and counts how often a method is wrong where the true ratio is 0.8 or 1.25 times the limit.

    python tools/speed_methods.py record laps.jsonl --minutes 10
    python tools/speed_methods.py replay laps.jsonl
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from speed_verdicts import SIZES, busy, function, loads

TIMES = 100
OTHERS = (50, 75, 80, 125, 133, 200)
LAPS, WARM = 26, 3
BLOCK_S = 12.0

Draw = Callable[[int, Callable[[Sequence[float]], float], int], float]
Method = Callable[[Draw], tuple[bool | None, int]]
CPU, WALL = 0, 1


def record(path: Path, minutes: float) -> None:
    """Time pairs of functions under each load in turn, and append the laps to a file."""
    import torch

    torch.set_num_threads(1)

    from grader.runner.promises import SandboxPlan
    from grader.runner.worker_server import WorkerServer
    from grader.worker_process.fork import ForkStarter

    server = WorkerServer(SandboxPlan())
    with tempfile.TemporaryDirectory() as folder, path.open("a", encoding="utf-8") as file:
        starter = ForkStarter(server.open_lane(0), Path(folder))
        server.wait_ready()
        until = time.monotonic() + 60 * minutes
        while time.monotonic() < until:
            for load, programs in loads().items():
                with busy(programs):
                    block = time.monotonic() + BLOCK_S
                    while time.monotonic() < block:
                        kind, times = random.choice(list(SIZES)), random.choice(OTHERS)
                        row = {"load": load, "kind": kind, "times": times, **laps(starter, kind, times)}
                        file.write(json.dumps(row) + "\n")
                        file.flush()
        starter.close()
    server.close()


def laps(starter: Any, kind: str, times: int) -> dict[str, list[tuple[float, float]]]:
    """Time two functions in turn; return the CPU and wall seconds of each lap, also of calls that do nothing."""
    import torch

    from grader.speed.timing import Inputs, TimedWorker

    mine, other = (TimedWorker(function(starter, kind, number, "your")) for number in (times, TIMES))
    found: dict[str, list[tuple[float, float]]] = {"mine": [], "other": [], "idle": []}
    result: Any = None

    def timed(side: TimedWorker, inputs: Inputs, *, idle: bool = False) -> tuple[float, float]:
        nonlocal result
        started = time.perf_counter()
        timing = side.call(inputs, idle=idle)
        (result,) = timing.results
        return timing.cpu_s, time.perf_counter() - started

    for number in range(LAPS):
        args = (torch.randn(max(SIZES[kind], 4096)),)
        for name, side in sorted({"mine": mine, "other": other}.items(), reverse=bool(number % 2)):
            found[name].append(timed(side, Inputs(args)))
        if number % 4 == 1:
            found["idle"].append(timed(other, Inputs((*args, result)), idle=True))
    for side in (mine, other):
        side.add_late_work()
        side.close()
    return found


def lowest(times: Sequence[float]) -> float:
    return statistics.fmean(sorted(times)[: max(1, len(times) // 3)])


def distance(row: dict[str, Any], count: int, average: Callable[[Sequence[float]], float], clock: int) -> float:
    """Return the logarithm of the measured ratio over the true one, when `count` laps of each side are averaged."""
    idle = min(lap[clock] for lap in row["idle"])
    mine, other = (average([lap[clock] for lap in row[name][WARM : WARM + count]]) for name in ("mine", "other"))
    return math.log(max(mine - idle, 1e-6) / max(other - idle, 1e-6)) - math.log(row["times"] / TIMES)


def one(count: int, average: Callable[[Sequence[float]], float], clock: int) -> Method:
    return lambda draw: (draw(count, average, clock) > 0, 1)


def confirmed(draw: Draw) -> tuple[bool | None, int]:
    return (False, 1) if draw(9, lowest, CPU) <= 0 else (draw(9, lowest, CPU) > 0, 2)


def majority(draw: Draw) -> tuple[bool | None, int]:
    return sum(draw(9, lowest, CPU) > 0 for _ in range(3)) >= 2, 3


def lead(draw: Draw) -> tuple[bool | None, int]:
    from grader.speed.ratio import CLEAR, FAR, LEAD, MOST_PAIRS

    votes = 0
    for pairs in range(1, MOST_PAIRS + 1):
        far = draw(9, lowest, CPU)
        votes += (2 if far > CLEAR else 1) if far > 0 else -3 if far < -FAR else -2 if far < -CLEAR else -1
        if abs(votes) >= LEAD:
            return votes > 0, pairs
    return None, MOST_PAIRS


METHODS: dict[str, Method] = {
    "wall time, median of 15, one pair": one(15, statistics.median, WALL),
    "wall time, minimum of 15, one pair": one(15, min, WALL),
    "CPU time, median of 15, one pair": one(15, statistics.median, CPU),
    "CPU time, lowest third of 9, one pair": one(9, lowest, CPU),
    "the same, a failing verdict confirmed in a second pair": confirmed,
    "the same, the majority of 3 pairs": majority,
    "the same, a lead of 3 votes (`grader.speed.ratio`, without its look at agreement)": lead,
}


def replay(path: Path, draws: int = 20_000) -> None:
    """Print the table of methods in Markdown: wrong and undecided verdicts in a thousand, and pairs used."""
    cells = collections.defaultdict(list)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        cells[row["load"], row["kind"]].append(row)
    chance = random.Random(0)
    print(
        "| method | 0.8: wrong | undecided | pairs | 1.25: wrong | undecided | pairs |\n|---|---|---|---|---|---|---|"
    )
    for name, method in METHODS.items():
        found = []
        for ratio in (0.8, 1.25):
            wrong = unsure = pairs = 0
            for _ in range(draws):
                cell = chance.choice(list(cells.values()))
                above, used = method(
                    lambda *how, cell=cell, ratio=ratio: distance(chance.choice(cell), *how) + math.log(ratio)
                )
                wrong, unsure, pairs = wrong + (above is (ratio < 1)), unsure + (above is None), pairs + used
            found.append(f"{1000 * wrong / draws:.1f} | {1000 * unsure / draws:.1f} | {pairs / draws:.1f}")
        print(f"| {name} | {' | '.join(found)} |")
    print(f"\n{len(rows)} pairs, drawn {draws:,} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["record", "replay"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args()
    if options.what == "record":
        record(options.file, options.minutes)
    else:
        replay(options.file)


if __name__ == "__main__":
    main()
