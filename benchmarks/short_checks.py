"""A class with short checks, graded by `grade batch`, and by a plain pytest session without any isolation.

Five exercises with four short checks each. Every other author hands in a wrong answer to each exercise. Both sides are
whole commands, start-up included, and take turns. The session is `pytest -q` on a file with the same checks, which
imports each author's modules; nothing of this project is in it. It reports each failed check, as we do; `pytest -q
--tb=no`, which reports none, is timed as well. A last side is one such session for each author.

    python benchmarks/short_checks.py [--submissions 200] [--rounds 3] [--lanes 1 --lanes 2] [--single 5]

Prints for each round wall and CPU seconds, and at the end the medians of the ratios within the rounds. Both sides must
find the same number of failures.
"""

from __future__ import annotations

import csv
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import click


@dataclass(frozen=True)
class Task:
    """One exercise: its function, what a wrong answer returns, and its checks, each a call and a condition on `r`."""

    name: str
    arguments: str
    right: str
    wrong: str
    checks: tuple[tuple[str, str], ...]


TASKS = (
    Task(
        *("scale", "x, k", "x * k", "x + k"),
        (
            ("scale(torch.tensor([1.0, 2.0]), 3)", "torch.tensor([3.0, 6.0])"),
            ("scale(torch.arange(6).view(2, 3), 2)", "torch.tensor([[0, 2, 4], [6, 8, 10]])"),
            ("scale(torch.zeros(0), 5)", "torch.zeros(0)"),
            ("scale(torch.ones(3, 4)[:, 1:3], -1.0)", "-torch.ones(3, 2)"),
        ),
    ),
    Task(
        *("row_sums", "x", "x.sum(dim=1)", "x.sum(dim=0)"),
        (
            ("row_sums(torch.ones(3, 4))", "torch.full((3,), 4.0)"),
            ("row_sums(torch.arange(6).view(3, 2))", "torch.tensor([1, 5, 9])"),
            ("row_sums(torch.ones(2, 0))", "torch.zeros(2)"),
            ("row_sums(torch.eye(5))", "torch.ones(5)"),
        ),
    ),
    Task(
        *("flip", "x", "x.t()", "x"),
        (
            ("flip(torch.arange(6).view(2, 3))", "torch.tensor([[0, 3], [1, 4], [2, 5]])"),
            ("flip(torch.ones(1, 7))", "torch.ones(7, 1)"),
            ("flip(torch.zeros(0, 2))", "torch.zeros(2, 0)"),
            ("flip(torch.eye(3))", "torch.eye(3)"),
        ),
    ),
    Task(
        *("clip", "x, low, high", "x.clamp(low, high)", "x.clamp(min=low)"),
        (
            ("clip(torch.tensor([-2.0, 0.5, 2.0]), -1.0, 1.0)", "torch.tensor([-1.0, 0.5, 1.0])"),
            ("clip(torch.arange(5), 1, 3)", "torch.tensor([1, 1, 2, 3, 3])"),
            ("clip(torch.zeros(0), 0.0, 1.0)", "torch.zeros(0)"),
            ("clip(torch.full((2, 2), 9.0), 0.0, 1.0)", "torch.ones(2, 2)"),
        ),
    ),
    Task(
        *("center", "x", "x - x.mean()", "x - x[0]"),
        (
            ("center(torch.tensor([1.0, 2.0, 3.0]))", "torch.tensor([-1.0, 0.0, 1.0])"),
            ("center(torch.full((4,), 7.0))", "torch.zeros(4)"),
            ("center(torch.tensor([0.0, 4.0]))", "torch.tensor([-2.0, 2.0])"),
            ("center(torch.tensor([5.0]))", "torch.zeros(1)"),
        ),
    ),
)


def make_course(folder: Path) -> None:
    """A course with the exercises, all checks hidden."""
    listed = ", ".join(task.name for task in TASKS)
    _write(
        folder / "course.yaml",
        f"title: Short checks\nmodules:\n  - folder: 01_short\n    title: Short\n    exercises: [{listed}]\n",
    )
    _write(folder / "exercises" / "topics.yaml", "T1: tensors\n")
    for number, task in enumerate(TASKS, 1):
        where = Path("01_short", task.name)
        head = f'"""{task.name}\n\nC1  `{task.name}({task.arguments})` returns the right tensor.\n"""\n\n\n'
        stub = f"def {task.name}({task.arguments}):\n    raise NotImplementedError  # TODO\n"
        _write(folder / "exercises" / where / f"{task.name}.py", head + stub)
        _write(folder / "solutions" / where / f"{task.name}.py", module(task, wrong=False))
        _write(
            folder / "exercises" / where / "exercise.yaml",
            f"number: 01-{number}\ntitle: {task.name}\nkind: implement\ndifficulty: 1\npoints: 4\ntopics: [T1]\n"
            "hints: [One, Two, Three]\n",
        )
        checks = "".join(
            f'\n\n@check("C1", share=1)\ndef check_{place}(student):\n    """Case {place}"""\n'
            f"    same(student.{call}, {expected})\n"
            for place, (call, expected) in enumerate(task.checks)
        )
        _write(
            folder / "solutions" / where / f"check_{task.name}.py",
            f"import torch\n\nfrom grader.check import check, same\n{checks}",
        )


def module(task: Task, *, wrong: bool) -> str:
    """What an author hands in."""
    return f"import torch\n\n\ndef {task.name}({task.arguments}):\n    return {task.wrong if wrong else task.right}\n"


def make_class(folder: Path, count: int) -> None:
    """Authors, every other one wrong in everything."""
    for number in range(count):
        for task in TASKS:
            _write(folder / f"author{number:04}" / f"{task.name}.py", module(task, wrong=bool(number % 2)))


def plain_tests() -> str:
    """The same checks as plain pytest functions, run for each author's folder in $CLASS."""
    lines = [
        "import importlib.util, os, pathlib",
        "import pytest, torch",
        "from torch.testing import assert_close",
        "AUTHORS = sorted(pathlib.Path(os.environ['CLASS']).iterdir())",
        "@pytest.fixture(scope='module', params=AUTHORS, ids=lambda path: path.name)",
        "def author(request): return request.param",
    ]
    for task in TASKS:
        lines += [
            "@pytest.fixture(scope='module')",
            f"def {task.name}(author):",
            f"    spec = importlib.util.spec_from_file_location('{task.name}', author / '{task.name}.py')",
            "    module = importlib.util.module_from_spec(spec)",
            "    spec.loader.exec_module(module)",
            f"    return module.{task.name}",
        ]
        for place, (call, expected) in enumerate(task.checks):
            lines.append(f"def test_{task.name}_{place}({task.name}): assert_close({call}, {expected})")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Cost:
    """What a command took: seconds by the clock, of all its processes, and how many checks failed."""

    wall: float
    cpu: float
    failures: int


def run(command: list[str], **environment: str) -> tuple[float, float, str]:
    """Wall and CPU seconds of a whole command, and what it printed."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout + done.stderr


def ours(work: Path, count: int, lanes: int) -> Cost:
    """`grade batch` on the class."""
    out = Path(tempfile.mkdtemp(dir=work)) / "out"
    command = [sys.executable, "-m", "grader", "batch", str(work / "class"), "--out", str(out), "-j", str(lanes)]
    wall, cpu, text = run([*command, "--course", str(work / "course"), "-q"])
    with (out / "gradebook.csv").open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    if len(rows) != count:
        raise click.ClickException(f"{len(rows)} of {count} authors were graded:\n{text}")
    lost = sum(float(row["possible"]) - float(row["earned"]) for row in rows)
    return Cost(wall, cpu, round(lost))


def unisolated(work: Path, folder: Path, *options: str) -> Cost:
    """A plain pytest session on a class."""
    own = ["-p", "no:cacheprovider", *options, str(work / "test_plain.py")]
    command = [sys.executable, "-m", "pytest", "-q", *own]
    wall, cpu, text = run(command, CLASS=str(folder), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    failed = re.search(r"(\d+) failed", text)
    return Cost(wall, cpu, int(failed[1]) if failed else 0)


@click.command(help=__doc__)
@click.option("--submissions", default=200)
@click.option("--rounds", default=3)
@click.option("--lanes", multiple=True, type=int, default=(1, 2))
@click.option("--single", default=5, help="Of how many authors one session each is timed.")
def main(submissions: int, rounds: int, lanes: tuple[int, ...], single: int) -> None:
    """Time all sides in turn."""
    ratios: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="short-checks-") as folder:
        work = Path(folder)
        make_course(work / "course")
        make_class(work / "class", submissions)
        make_class(work / "few", single)
        _write(work / "test_plain.py", plain_tests())
        for _ in range(rounds):
            plain, silent = unisolated(work, work / "class"), unisolated(work, work / "class", "--tb=no")
            for name, cost in (("pytest -q", plain), ("pytest -q --tb=no", silent)):
                print(f"{name:18} {cost.wall:6.1f} s wall {cost.cpu:6.1f} s CPU, {cost.failures} failures")
            for count in lanes:
                mine = ours(work, submissions, count)
                if mine.failures != plain.failures:
                    raise click.ClickException(f"{mine.failures} checks failed, and {plain.failures} with pytest")
                name = f"{count} lane{'s'[: count - 1]}"
                print(f"{name:18} {mine.wall:6.1f} s wall {mine.cpu:6.1f} s CPU")
                ratios.setdefault(f"{name} / pytest -q", []).append(mine.wall / plain.wall)
                ratios.setdefault(f"{name} / pytest -q --tb=no", []).append(mine.wall / silent.wall)
                each = _each(work, single) * submissions
                ratios.setdefault(f"one pytest for each / {name}", []).append(each / mine.wall)
    for name, found in ratios.items():
        print(f"{name}: median {statistics.median(found):.2f} (from {min(found):.2f} to {max(found):.2f})")


def _each(work: Path, single: int) -> float:
    """Seconds of a pytest session for one author, the mean of a few."""
    walls = []
    for path in sorted((work / "few").iterdir()):
        own = Path(tempfile.mkdtemp(dir=work))
        (own / path.name).symlink_to(path)
        walls.append(unisolated(work, own).wall)
    return statistics.mean(walls) if single else 0.0


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
