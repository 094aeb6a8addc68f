"""Kill a batch at random moments of its life: is anything lost, or graded twice?

host      the process of a batch over a class of twenty, in pretended lanes: it is killed, then the command is repeated
power     the same, and what the system had not yet written is gone as well (tests/batch/power.py)
process   any process of a real batch over a class of four, in real lanes: the batch itself, a check process, the
          launcher, a fork server, a worker; where the batch goes on by itself, it must end well, else it is repeated

The gradebook and the reports at the end are those of a batch that nobody killed. Each author has one result of each
exercise, and those that were there after the kill are still there under their numbers. A round that ends otherwise is
kept, and its place printed; the last line has the number of rounds, and of kills by process.

    python benchmarks/kills.py host --rounds 1000 --seed 1
    python benchmarks/kills.py process --rounds 20
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from batch.power import JOURNAL, grade_until_a_cut
from batch.pretend import PretendClass
from many_workers import descendants

from grader.course.load import load_course

COURSE = Path(__file__).resolve().parents[1] / "tests" / "courses" / "tiny"
VERDICTS = ("passed", "failed", "timed_out")
AUTHORS, REAL_AUTHORS = 20, 4
LONGEST_S = 600

Rows = dict[tuple[str, str], list[tuple[int, str]]]
"""Numbers and times of results, by author and exercise."""


def results(out: Path) -> dict[str, object]:
    """The gradebook and the reports, without what is measured."""
    reports = {path.name: json.loads(path.read_text()) for path in sorted((out / "reports").iterdir())}
    for report in reports.values():
        report["graded_at"] = ""
        for exercise in report["exercises"]:
            for check in exercise["checks"]:
                check |= {"seconds": None, "speed": [], "counters": {}}
    return {"book": (out / "gradebook.csv").read_text(), **reports}


def rows(out: Path) -> Rows:
    """What the journal has; nothing where there is no journal yet. It is copied, as reading changes it."""
    found: Rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in out.glob(f"{JOURNAL}*"):
            shutil.copy(path, folder)
        with contextlib.suppress(sqlite3.OperationalError):  # no table yet
            connection = sqlite3.connect(Path(folder, JOURNAL))
            with contextlib.closing(connection):
                for author, exercise, *row in connection.execute("SELECT author, exercise, id, at FROM results"):
                    found.setdefault((author, exercise), []).append((row[0], row[1]))
    return found


def problems(whole: dict[str, object], before: Rows, out: Path) -> list[str]:
    """What is wrong after the last run."""
    after, now = rows(out), results(out)
    wrong = [f"{place} has {len(found)} results" for place, found in after.items() if len(found) > 1]
    wrong += [
        f"{place} had {found}, has {after.get(place)}" for place, found in before.items() if found != after.get(place)
    ]
    wrong += [f"{name} differs" for name in {*whole, *now} if whole.get(name) != now.get(name)]
    return wrong


class Pretended:
    """Rounds with a class in pretended lanes."""

    def __init__(self, folder: Path, how: str, luck: random.Random) -> None:
        self.folder, self.how, self.luck = folder, how, luck
        self.course = load_course(COURSE)
        self.whole = PretendClass.of(self.course, folder / "whole", AUTHORS, VERDICTS)
        began = time.monotonic()
        self.whole.grade(seconds=0.005)
        self.seconds = time.monotonic() - began

    def round(self, number: int) -> tuple[str, list[str], Path]:
        """One round: what was killed, what is wrong, and where it lies."""
        made = PretendClass.of(self.course, self.folder / f"{number}", AUTHORS, VERDICTS)
        for name in ("in", "out"):  # whose paths stand in reports
            assert (self.folder / "whole" / name).is_dir()
        if self.how == "power":
            killed = "power" if grade_until_a_cut(made, self.luck.randint(1, AUTHORS)) else "nothing"
        else:
            batch = multiprocessing.get_context("fork").Process(target=made.grade, kwargs={"seconds": 0.005})
            batch.start()
            batch.join(self.luck.uniform(0.01, self.seconds))
            batch.kill()
            batch.join()
            killed = "host" if batch.exitcode == -signal.SIGKILL else "nothing"
        before = rows(made.out)
        made.grade()
        return killed, problems(results(self.whole.out), before, made.out), made.out


class Real:
    """Rounds with real lanes."""

    def __init__(self, folder: Path, luck: random.Random) -> None:
        self.folder, self.luck = folder, luck
        texts = ("def total(x):\n    return x.sum()\n", "def total(x):\n    return 0\n")
        for number in range(REAL_AUTHORS):
            path = folder / "class" / f"author{number}" / "total.py"
            path.parent.mkdir(parents=True)
            path.write_text(texts[number % 2])
        began = time.monotonic()
        assert self.batch("whole").wait(LONGEST_S) == 0
        self.seconds = time.monotonic() - began

    def batch(self, name: str) -> subprocess.Popen[bytes]:
        """A batch that began."""
        out = self.folder / name
        out.mkdir(exist_ok=True)
        if not (out / "seed").exists():
            (out / "seed").write_text(f"{bytes(32).hex()}\n")
        command = [sys.executable, "-m", "grader", "batch", str(self.folder / "class"), "--out", str(out)]
        with (out.with_name(f"{name}.log")).open("ab") as log:
            return subprocess.Popen(command, cwd=COURSE, stdout=log, stderr=log)

    def round(self, number: int) -> tuple[str, list[str], Path]:
        """One round, as of `Pretended`."""
        out, killed = self.folder / f"{number}", "nothing"
        batch = self.batch(out.name)
        with contextlib.suppress(subprocess.TimeoutExpired):
            batch.wait(self.luck.uniform(0.3, self.seconds))
        if batch.poll() is None:
            pid = self.luck.choice([batch.pid] * 2 + descendants(batch.pid))
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
                module = re.findall(r"\0(grader\.[\w.]+)\0", words)
                os.kill(pid, signal.SIGKILL)
                killed = "host" if pid == batch.pid else module[-1] if module else "another"
        status, before = batch.wait(LONGEST_S), rows(out)
        if killed == "host":
            status = self.batch(out.name).wait(LONGEST_S)
        wrong = [f"the batch ended with {status}"] if status else []
        return killed, wrong + problems(results(self.folder / "whole"), before, out), out


def main() -> None:
    """Do the rounds; the exit status is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["host", "power", "process"])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    folder, luck = Path(tempfile.mkdtemp(prefix="kills-")), random.Random(options.seed)
    print(f"seed {options.seed}, in {folder}", flush=True)
    rounds = Real(folder, luck) if options.what == "process" else Pretended(folder, options.what, luck)
    counts, failures = Counter[str](), 0
    for number in range(options.rounds):
        killed, wrong, out = rounds.round(number)
        counts[killed] += 1
        if wrong:
            failures += 1
            print(f"round {number}, {killed} killed, {out}: {'; '.join(wrong)[:1000]}", flush=True)
        else:
            shutil.rmtree(out if options.what == "process" else out.parent)
        if number % 50 == 49:
            print(f"{number + 1} rounds, {failures} wrong: {dict(counts)}", flush=True)
    print(f"{options.rounds} rounds, {failures} wrong; killed: {dict(counts)}")
    if not failures:
        shutil.rmtree(folder)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
