"""Kill a batch at random moments of its life: is anything lost, or graded twice?

host      the process of a batch over a class of twenty, in pretended lanes: it is killed and the command is repeated,
          again and again until one of them ends by itself
power     the same, and what the system had not yet written is gone as well (tests/batch/power.py)
process   one process of a real batch over a class of four, in real lanes: the batch itself, the reader, the zygote, the
          template, a check process, a launcher, a worker server, a worker, each kind as often; where the batch goes on
          by itself, it must end well, else it is repeated

The gradebook and the reports at the end are those of a batch that nobody killed. Each author has one result of each
exercise, beside one that broke as a process was killed, and those that were there after a kill are still there under
their numbers. A round that ends otherwise is kept, and its place printed; the last line has the number of rounds, and
of kills by process. `--kills` ends it earlier.

    python tools/kills.py host --kills 1000 --seed 1
    python tools/kills.py process --rounds 20
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from batch.power import JOURNAL, grade_until_a_cut
from batch.pretend import PretendClass
from many_workers import descendants

from grader.course.load import load_course
from grader.intake import reading
from grader.sandbox import child, kernel

COURSE = Path(__file__).resolve().parents[1] / "tests" / "courses" / "tiny"
VERDICTS = ("passed", "failed", "timed_out")
AUTHORS, REAL_AUTHORS = 20, 4
ADDRESSES_MB = 1 << 20
"""Of a reader that is forked from this process, which has PyTorch."""
LONGEST_S = 600

Rows = dict[tuple[str, str], list[tuple[int, str]]]
"""Numbers and times of results that are not broken, by author and exercise."""


def results(out: Path) -> dict[str, object]:
    """Return the gradebook and the reports by name, without times, counts and speeds, which differ in each run."""
    reports = {path.name: json.loads(path.read_text()) for path in sorted((out / "reports").iterdir())}
    for report in reports.values():
        report["graded_at"] = ""
        for exercise in report["exercises"]:
            for check in exercise["checks"]:
                check |= {"seconds": None, "speed": [], "counters": {}}
    return {"book": (out / "gradebook.csv").read_text(), **reports}


def rows(out: Path) -> Rows:
    """Return the rows of the journal; none where there is no journal yet. It is copied, as reading changes it."""
    found: Rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in out.glob(f"{JOURNAL}*"):
            shutil.copy(path, folder)
        with contextlib.suppress(sqlite3.OperationalError):  # no table yet
            connection = sqlite3.connect(Path(folder, JOURNAL))
            with contextlib.closing(connection):
                for author, exercise, id, at, text in connection.execute(
                    "SELECT author, exercise, id, at, outcomes FROM results"
                ):
                    # What broke as a process was killed is graded once more at the end, and both are kept.
                    if not any(outcome["verdict"] == "broken" for outcome in json.loads(text)["outcomes"]):
                        found.setdefault((author, exercise), []).append((id, at))
    return found


def problems(whole: dict[str, object], before: Rows, out: Path) -> list[str]:
    """Return a sentence for each result that was lost or doubled, and each file that differs from the whole run's."""
    after, now = rows(out), results(out)
    differ = [f"{name} differs" for name in {*whole, *now} if whole.get(name) != now.get(name)]
    return lost_or_twice(before, after) + differ


def lost_or_twice(before: Rows, after: Rows) -> list[str]:
    """Return a sentence for each row that was lost, or was written twice."""
    twice = [f"{place} has {len(found)} results" for place, found in after.items() if len(found) > 1]
    return twice + [
        f"{place} had {found}, has {after.get(place)}" for place, found in before.items() if found != after.get(place)
    ]


class Round(NamedTuple):
    """One batch: what was killed, what is wrong, and where it lies."""

    killed: list[str]
    wrong: list[str]
    out: Path


class ForkedReader:
    """The process that reads, forked from this one: a thousand batches need not import it anew.

    The arguments and attributes are those of `subprocess.Popen` that are used.
    """

    def __init__(self, command: Sequence[str], stdin: int, stdout: int, stderr: IO[bytes], env: object) -> None:
        del command, stdin, stdout, env
        (asked, ask), (said, say) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            child.run_and_exit(lambda: self._read(asked, say, stderr.fileno()))
        os.close(asked)
        os.close(say)
        self.stdin, self.stdout = os.fdopen(ask, "wb"), os.fdopen(said, "rb")
        self.returncode: int | None = None

    def _read(self, asked: int, say: int, log: int) -> None:
        for descriptor, stream in ((asked, 0), (say, 1), (log, 2)):
            os.dup2(descriptor, stream)
        kernel.close_all_but()  # this end of its own pipes, and those of other readers
        sys.stdin, sys.argv = os.fdopen(0, encoding="utf-8"), ["reading", str(ADDRESSES_MB)]
        reading.main()

    def poll(self) -> int | None:
        """Return the exit status if the process has ended, else None."""
        if self.returncode is None:
            try:
                ended, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # of the process that this batch was forked from
                self.returncode = 0
            else:
                self.returncode = os.waitstatus_to_exitcode(status) if ended else None
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Wait until the process has ended, and return its exit status."""
        latest = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > latest:
                raise subprocess.TimeoutExpired("reading", timeout)
            time.sleep(0.01)
        return code

    def kill(self) -> None:
        """Kill the process."""
        os.kill(self.pid, signal.SIGKILL)


class Pretended:
    """Rounds with a class in pretended lanes."""

    def __init__(self, folder: Path, how: str, luck: random.Random) -> None:
        self.folder, self.how, self.luck = folder, how, luck
        mock.patch.object(subprocess, "Popen", ForkedReader).start()
        self.course = load_course(COURSE)
        self.whole = PretendClass.of(self.course, folder / "whole", AUTHORS, VERDICTS)
        self.whole.grade()
        began = time.monotonic()  # the second one, as what is killed comes from a process that has graded, too
        PretendClass.of(self.course, folder / "again", AUTHORS, VERDICTS).grade(seconds=0.005)
        self.seconds = time.monotonic() - began

    def round(self, number: int) -> Round:
        """Kill one batch until it ends by itself."""
        made = PretendClass.of(self.course, self.folder / f"{number}", AUTHORS, VERDICTS)
        kill = self._cut_power if self.how == "power" else self._kill
        kills, wrong, before = 0, list[str](), Rows()
        while not wrong and kill(made):
            kills, after = kills + 1, rows(made.out)
            wrong, before = lost_or_twice(before, after), after
        assert not made.grade().unread
        return Round([self.how] * kills, wrong + problems(results(self.whole.out), before, made.out), made.out)

    def _cut_power(self, made: PretendClass) -> bool:
        return grade_until_a_cut(made, self.luck.randint(1, AUTHORS // 2))

    def _kill(self, made: PretendClass) -> bool:
        batch = multiprocessing.get_context("fork").Process(target=made.grade, kwargs={"seconds": 0.005})
        batch.start()
        # What was graded is not graded again, so that each of them comes further, and all its life is tried.
        batch.join(self.luck.expovariate(3 / self.seconds))
        batch.kill()
        batch.join()
        return batch.exitcode == -signal.SIGKILL


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
        """Start a batch, and return its process."""
        out = self.folder / name
        out.mkdir(exist_ok=True)
        if not (out / "seed").exists():
            (out / "seed").write_text(f"{bytes(32).hex()}\n")
        command = [sys.executable, "-m", "grader", "batch", str(self.folder / "class"), "--out", str(out)]
        with (out.with_name(f"{name}.log")).open("ab") as log:
            return subprocess.Popen(command, cwd=COURSE, stdout=log, stderr=log)

    def round(self, number: int) -> Round:
        """Kill one process of a batch."""
        out, killed = self.folder / f"{number}", "nothing"
        batch = self.batch(out.name)
        # Every other time only once there is a worker: on a busy machine most of a batch is its start.
        while number % 2 and batch.poll() is None and "grade-worker" not in self._kinds(batch.pid):
            time.sleep(0.02)
        with contextlib.suppress(subprocess.TimeoutExpired):
            batch.wait(self.luck.uniform(0.0, 0.5) if number % 2 else self.luck.uniform(0.3, self.seconds))
        if batch.poll() is None:
            kinds = self._kinds(batch.pid)
            killed = self.luck.choice(sorted(kinds))
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.luck.choice(kinds[killed]), signal.SIGKILL)
        status, before = batch.wait(LONGEST_S), rows(out)
        if killed == "host":
            status = self.batch(out.name).wait(LONGEST_S)
        wrong = [f"the batch ended with {status}"] if status else []
        return Round([killed], wrong + problems(results(self.folder / "whole"), before, out), out)

    def _kinds(self, batch: int) -> dict[str, list[int]]:
        """Return the processes of a batch, by their kind."""
        kinds = {"host": [batch]}
        for pid in descendants(batch):
            with contextlib.suppress(OSError):
                name = Path(f"/proc/{pid}/comm").read_text().strip()  # `reading` is started as a command
                kinds.setdefault(name if name.startswith("grade-") else "reading", []).append(pid)
        return kinds


def main() -> None:
    """Kill batches round after round, and print what is wrong; exit with status 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["host", "power", "process"])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=1_000_000, help="end after so many")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    folder, luck = Path(tempfile.mkdtemp(prefix="kills-")), random.Random(options.seed)
    print(f"seed {options.seed}, in {folder}", flush=True)
    rounds = Real(folder, luck) if options.what == "process" else Pretended(folder, options.what, luck)
    counts, failures = Counter[str](), 0
    for number in range(options.rounds):
        killed, wrong, out = rounds.round(number)
        counts.update(killed)
        if wrong:
            failures += 1
            print(f"round {number}, {killed} killed, {out}: {'; '.join(wrong)[:1000]}", flush=True)
        else:
            shutil.rmtree(out if options.what == "process" else out.parent)
        print(f"{number + 1} rounds, {failures} wrong: {dict(counts)}", flush=True)
        if counts.total() - counts["nothing"] >= options.kills:
            break
    print(f"{number + 1} rounds, {failures} wrong; killed: {dict(counts)}")
    if not failures:
        shutil.rmtree(folder)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
