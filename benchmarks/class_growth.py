"""What a submission costs in classes of different sizes, and where the time goes.

    python benchmarks/class_growth.py [--students N]... [--exercise EX]... [--profile] [-- OPTION...]

Classes as `make_class.py` makes them, as folders, are graded by `grade batch`, and `grade report` is run on each. For
each size: wall and CPU seconds in all and for each submission, the largest of our processes, how much of the time the
checks themselves took (the sum over all outcomes, by the journal), and the size of the journal. What a submission costs
should not grow with the class: the last line compares the CPU seconds of the largest class with those of the smallest,
start-up apart, which is taken from a class of one. `--profile` grades the largest once more, and prints what the host's
main thread spends its time on. What stands behind `--` goes to `grade batch`.

The exercises by default are ten without a check of speed, whose repetitions hang on what else the machine does.
"""

from __future__ import annotations

import json
import os
import pstats
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from make_class import exercises_named, make_class

from grader.model import Exercise

EXERCISES = ("01-1", "01-4", "02-1", "02-2", "02-3", "03-2", "04-3", "05-1", "05-2", "06-1")
_TICK_S = 0.5
_ACCOUNT = Path("/sys/fs/cgroup/cpuacct/class-growth")
"""Where CPU time is counted, if root can make a control group here: of workers that the kernel reaps nothing else is
counted, and then the CPU seconds are about half of the truth."""


@dataclass(frozen=True)
class Cost:
    """What one command cost.

    Attributes:
        wall_s: seconds.
        cpu_s: of it and all that it started.
        largest_mb: the most that one of its processes had in memory, and
        all_mb: that all of them had together, each with what it shares in part (PSS).
    """

    wall_s: float
    cpu_s: float
    largest_mb: float
    all_mb: float


def cost_of(command: Sequence[str]) -> Cost:
    """Run a command to its end, and return its wall time, CPU time and peaks of memory."""
    started, begun, typed = time.monotonic(), 0, [sys.executable, *command]
    if counted := os.access(_ACCOUNT.parent, os.W_OK):
        _ACCOUNT.mkdir(exist_ok=True)
        begun = int((_ACCOUNT / "cpuacct.usage").read_text())
        typed = ["sh", "-c", f'echo $$ > {_ACCOUNT}/cgroup.procs; exec "$@"', "sh", *typed]
    ran = subprocess.Popen(typed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    most = [0.0]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_TICK_S):
            most[0] = max(most[0], sum(map(_pss_mb, _family(ran.pid))))

    watcher = threading.Thread(target=watch)
    watcher.start()
    assert ran.stdout is not None
    told = ran.stdout.read()
    _, status, used = os.wait4(ran.pid, 0)
    ran.returncode = os.waitstatus_to_exitcode(status)
    done.set()
    watcher.join()
    if ran.returncode not in (0, 3):
        raise click.ClickException(told.decode())
    wall, cpu = time.monotonic() - started, used.ru_utime + used.ru_stime
    if counted:
        cpu = (int((_ACCOUNT / "cpuacct.usage").read_text()) - begun) / 1e9
    return Cost(wall, cpu, used.ru_maxrss / 1024, most[0])


def _family(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return  # it has ended
    for child in children:
        yield from _family(int(child))


def _pss_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def checks_s(out: Path) -> tuple[float, Counter[str]]:
    """Return the seconds that all checks of a batch took, and those of each exercise."""
    by_exercise: Counter[str] = Counter()
    with closing(sqlite3.connect(out / "journal.sqlite")) as journal:
        for exercise, told in journal.execute("SELECT exercise, outcomes FROM results"):
            by_exercise[exercise] += sum(outcome["seconds"] for outcome in json.loads(told)["outcomes"])
    return sum(by_exercise.values()), by_exercise


def batch(root: Path, exercises: Sequence[Exercise], out: Path, rest: Sequence[str]) -> list[str]:
    """Return the arguments of `grade batch` for the class in a folder."""
    only = [word for exercise in exercises for word in ("--only", exercise.id)]
    return ["batch", str(root / "folders"), "--out", str(out), "--quiet", *only, *rest]


def graded(root: Path, exercises: Sequence[Exercise], count: int, rest: Sequence[str]) -> Cost:
    """Make a class of `count` authors, grade it, and print and return the cost."""
    make_class(root, exercises, "folders", count, count)
    out = root / "out"
    cost = cost_of(["-m", "grader", *batch(root, exercises, out, rest)])
    all_s, by_exercise = checks_s(out)
    report = cost_of(["-m", "grader", "report", str(out)])
    journal_mb = (out / "journal.sqlite").stat().st_size / (1 << 20)
    click.echo(
        f"{count:>6} submissions: {cost.wall_s:.1f} s, {cost.wall_s / count:.3f} s each; CPU {cost.cpu_s:.1f} s; "
        f"checks {all_s:.1f} s; memory {cost.all_mb:.0f} MB, the largest {cost.largest_mb:.0f}; "
        f"journal {journal_mb:.1f} MB; grade report {report.wall_s:.1f} s, {report.largest_mb:.0f} MB"
    )
    told = ", ".join(f"{id} {seconds / count * 1000:.0f}" for id, seconds in by_exercise.most_common(5))
    click.echo(f"{'':>8}longest checks, ms a submission: {told}")
    sys.stdout.flush()
    return cost


@click.command()
@click.option("--students", "sizes", multiple=True, type=int, default=(100, 1000), show_default=True)
@click.option("--exercise", "names", multiple=True, default=EXERCISES, show_default=True)
@click.option("--profile", is_flag=True, help="Print what the host does with its own time.")
@click.option("--keep", type=click.Path(path_type=Path), help="A folder for it all; by default one that is removed.")
@click.argument("rest", nargs=-1)
def command(
    sizes: Sequence[int], names: tuple[str, ...], profile: bool, keep: Path | None, rest: Sequence[str]
) -> None:
    """Print the time and memory that classes of several sizes cost, and how the cost of a submission grows."""
    root = keep or Path(tempfile.mkdtemp(prefix="class-growth-"))
    exercises = exercises_named(names, len(names))
    click.echo(f"{len(exercises)} exercises, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    try:
        start = graded(root / "1", exercises, 1, rest)
        found = {
            size: (graded(root / str(size), exercises, size, rest).cpu_s - start.cpu_s) / size for size in sorted(sizes)
        }
        if len(found) > 1:
            growth = found[max(found)] / found[min(found)]
            click.echo(f"a submission of {max(found)} costs {growth:.2f} times one of {min(found)}, start-up apart")
        if profile:
            path, largest = root / "profile", root / str(max(found))
            command = batch(largest, exercises, largest / "profiled", rest)
            cost_of(["-m", "cProfile", "-o", str(path), "-m", "grader", *command])
            pstats.Stats(str(path)).sort_stats("tottime").print_stats(20)
    finally:
        if keep is None:
            shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    command()
