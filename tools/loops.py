"""Which loops `assert_no_loop` finds, and from which size on: for each way to write one, beside the reference.

Each form computes the sum of the squares of a vector's elements, as `x.square().sum()` does. `assert_no_loop` has two
kinds of evidence: PyTorch's operators and the lines of the answer's own file are counted, and the CPU time of a call is
measured and compared with the reference's. Here each is asked by itself, so the second column is what remains if an
answer forges its counts.

    python tools/loops.py [--rounds 3]

Prints a table: the CPU time of a call for each element, beyond that of a call which only passes the vector; and the
least of the sizes at which each round found the form, by the count and by the time.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import click
import torch

from grader.check.costs import assert_no_loop, assert_no_slow_loop
from grader.connection.connection import Connection, Proxy, connection_of, proxy_of_name
from grader.model import Limits
from grader.model.endings import CheckFailed
from grader.runner.promises import SandboxPlan
from grader.runner.worker_server import WorkerServer
from grader.worker_process.fork import ForkStarter

REFERENCE = "    return x.square().sum()"
FORMS = {
    "`for` over the tensor": "    t = x.new_zeros(())\n    for v in x: t = t + v * v\n    return t",
    "chunks of 100 elements": "    return sum(part.square().sum() for part in x.split(100))",
    "100 chunks": "    return sum(part.square().sum() for part in x.chunk(100))",
    "`for` over `x.tolist()`": "    t = 0.0\n    for v in x.tolist(): t += v * v\n    return torch.tensor(t)",
    "`while` with an index into the list": (
        "    values, t, k = x.tolist(), 0.0, 0\n    while k < len(values):\n        t += values[k] ** 2\n"
        "        k += 1\n    return torch.tensor(t)"
    ),
    "a comprehension over the list": "    return torch.tensor(sum([v * v for v in x.tolist()]))",
    "`map` over the list": "    return torch.tensor(sum(map(lambda v: v * v, x.tolist())))",
    "recursion that halves the list": (
        "    def go(values):\n        half = len(values) // 2\n"
        "        return go(values[:half]) + go(values[half:]) if half else sum(v * v for v in values)\n"
        "    return torch.tensor(go(x.tolist()))"
    ),
    "`np.vectorize`": (
        "    import numpy as np\n    return torch.tensor(float(np.vectorize(lambda v: v * v)(x.numpy()).sum()))"
    ),
    "no loop: a sort": "    return x.sort().values.square().sum()",
    "no loop: ten passes": "    for _ in range(10): t = x.square().sum()\n    return t",
}
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LIMITS = Limits(call_s=30.0)
MANY = 300_000


@contextmanager
def function(starter: ForkStarter, body: str, owner: str = "your") -> Iterator[Proxy]:
    """Yield a proxy of a function with the body `body`, in a worker of its own."""
    text = f"import torch\n\n\ndef total(x):\n{body}\n".encode()
    with closing(Connection(starter, "work", {"work.py": text}, LIMITS, owner)) as connection:
        yield proxy_of_name(connection, "total")


def is_found(starter: ForkStarter, body: str, judge: Callable[[Proxy, Proxy], Any]) -> bool:
    """Return whether a judge fails a function with the body `body`, compared with the reference."""
    with function(starter, body) as mine, function(starter, REFERENCE, "the reference's") as other:
        connection_of(other).student = connection_of(mine)
        try:
            judge(mine, other)
        except CheckFailed:
            return True
    return False


def by_count(size: int) -> Callable[[Proxy, Proxy], Any]:
    """Return a judge that fails a function if `size` elements take more operators or lines of Python than 10 do."""
    return lambda mine, other: assert_no_loop(mine, (torch.rand(10),), (torch.rand(size),))


def by_time(size: int) -> Callable[[Proxy, Proxy], Any]:
    """Return a judge that fails a function if `size` elements take far more CPU time than with the reference."""
    return lambda mine, other: assert_no_slow_loop(mine, other, (torch.rand(10),), (torch.rand(size),))


def found_from(starter: ForkStarter, body: str, judge: Callable[[int], Callable[..., Any]], rounds: int) -> str:
    """Return as text the smallest size at which the judge fails a loop in every round; "no" if there is none."""
    sizes = (size for size in SIZES if all(is_found(starter, body, judge(size)) for _ in range(rounds)))
    least = next(sizes, None)
    return "no" if least is None else f"{least:,}"


def element_ns(starter: ForkStarter, body: str) -> float:
    """Return the CPU nanoseconds per element of a call with many elements, without the cost of an empty call."""
    took = []
    for each in (body, "    return 0"):
        with function(starter, each) as mine:
            mine(torch.rand(10))
            before = connection_of(mine).live_worker().cpu_s() or 0.0
            mine(torch.rand(MANY))
            took.append((connection_of(mine).live_worker().cpu_s() or 0.0) - before)
    return 1e9 * (took[0] - took[1]) / MANY


@click.command(help=__doc__)
@click.option("--rounds", default=3)
def main(rounds: int) -> None:
    """Measure all forms."""
    torch.set_num_threads(1)
    server = WorkerServer(SandboxPlan())
    print("| form | ns for each element | found by the count from | by the time from |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        starter = ForkStarter(server.open_lane(0), Path(folder))
        server.wait_ready()
        for name, body in FORMS.items():
            ns = statistics.median(element_ns(starter, body) for _ in range(rounds))
            columns = [found_from(starter, body, judge, rounds) for judge in (by_count, by_time)]
            print(f"| {name} | {ns:,.0f} | {columns[0]} | {columns[1]} |", flush=True)
        starter.close()
    server.close()


if __name__ == "__main__":
    main()
