"""A class with short checks, graded by `grade batch`, and by a plain pytest session without any isolation.

Five exercises with four short checks each. Every other author hands in a wrong answer to each exercise. All sides are
whole commands, start-up included, and take turns. The session is `pytest -q` on a file with the same checks, which
imports each author's modules; nothing of this project is in it. It reports each failed check, as we do; `pytest -q
--tb=no`, which reports none, is timed as well. A last side is one such session for each author, of which a few run.

    python benchmarks/short_checks.py [--submissions 200] [--rounds 3] [--lanes 1 --lanes 2] [--against d2f5de22]

Prints what each side took, round by round, and at the end the medians of the ratios within the rounds. All sides must
find the same number of failures.
"""

from __future__ import annotations

import csv
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import builds
import click

TARGETS = {1: 1.2, 2: 0.8}
"""By number of lanes: our seconds as a ratio to those of `pytest -q`."""

WRONG = 14
"""How many checks of all exercises an author fails whose answers are all wrong."""

SESSION = "pytest -q"
SILENT = "pytest -q --tb=no"
EACH = "pytest for each author"


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
    """Write a course with the exercises, all checks hidden."""
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
            f"    assert_close(student.{call}, {expected})\n"
            for place, (call, expected) in enumerate(task.checks)
        )
        _write(
            folder / "solutions" / where / f"check_{task.name}.py",
            f"import torch\n\nfrom grader.check import assert_close, check\n{checks}",
        )


def module(task: Task, *, wrong: bool) -> str:
    """Return the module that an author hands in."""
    return f"import torch\n\n\ndef {task.name}({task.arguments}):\n    return {task.wrong if wrong else task.right}\n"


def make_class(folder: Path, count: int) -> None:
    """Write the submissions of a class; every other author has everything wrong."""
    for number in range(count):
        for task in TASKS:
            _write(folder / f"author{number:04}" / f"{task.name}.py", module(task, wrong=bool(number % 2)))


def plain_tests() -> str:
    """Return the same checks as plain pytest functions, run for each author's folder in $CLASS."""
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


def ours(build: builds.Build, work: Path, course: Path, lanes: int, failures: int) -> float:
    """Grade the class with `grade batch`, and return its seconds.

    Raises:
        click.ClickException: not every author was graded, or other checks failed than expected.
    """
    out = Path(tempfile.mkdtemp(dir=work)) / "out"
    options: list[str | Path] = ["--out", out, "-j", str(lanes), "--course", course, "-q"]
    ran = builds.run(build.grade("batch", work / "class", *options), work, build.environment())
    if ran.status:
        raise click.ClickException(f"grade batch ended with {ran.status}:\n{ran.text}")
    with (out / "gradebook.csv").open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    lost = round(sum(float(row["possible"]) - float(row["earned"]) for row in rows))
    authors = len(list((work / "class").iterdir()))
    if (len(rows), lost) != (authors, failures):
        raise click.ClickException(f"{lost} of {failures} failures, {len(rows)} of {authors} authors:\n{ran.text}")
    return ran.wall


def unisolated(work: Path, folder: Path, failures: int, *options: str) -> float:
    """Run one plain pytest session on a whole class, and return its seconds."""
    own = ["-p", "no:cacheprovider", *options, str(work / "test_plain.py")]
    environment = os.environ | {"CLASS": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ran = builds.run([sys.executable, "-m", "pytest", "-q", *own], work, environment)
    failed = re.search(r"(\d+) failed", ran.text)
    if int(failed[1] if failed else 0) != failures:
        raise click.ClickException(f"pytest found other failures than {failures}:\n{ran.text}")
    return ran.wall


def for_each(work: Path, submissions: int) -> float:
    """Run a plain pytest session for each of a few authors; return their mean seconds times the size of the class."""
    walls = []
    for number, path in enumerate(sorted((work / "few").iterdir())):
        own = Path(tempfile.mkdtemp(dir=work))
        (own / path.name).symlink_to(path)
        walls.append(unisolated(work, own, _failures(number + 1) - _failures(number)))
    return statistics.mean(walls) * submissions


def _failures(authors: int) -> int:
    """Return the number of checks that fail in a class of `authors` authors."""
    return authors // 2 * WRONG


@click.command(help=__doc__)
@click.option("--submissions", default=200)
@click.option("--lanes", multiple=True, type=int, default=(1, 2))
@click.option("--single", default=4, help="Of how many authors one session each is timed.")
@builds.rounds
@builds.against
def main(submissions: int, lanes: tuple[int, ...], single: int, rounds: int, against: tuple[str, ...]) -> None:
    """Time plain pytest sessions and `grade batch` of each build in turn; print the ratios."""
    with tempfile.TemporaryDirectory(prefix="short-checks-") as folder, builds.opened(against) as found:
        work, failures = Path(folder), _failures(submissions)
        make_course(work / "course")
        make_class(work / "class", submissions)
        make_class(work / "few", single)
        _write(work / "test_plain.py", plain_tests())
        sides: dict[str, Callable[[], float]] = {
            SESSION: partial(unisolated, work, work / "class", failures),
            SILENT: partial(unisolated, work, work / "class", failures, "--tb=no"),
            EACH: partial(for_each, work, submissions),
        }
        courses = {build.name: builds.copy_course(work / "course", build, work / "courses") for build in found}
        sides |= {
            _name(build, count): partial(ours, build, work, courses[build.name], count, failures)
            for build in found
            for count in lanes
        }
        taken = builds.in_turns(sides, rounds)
    for count in lanes:
        mine = _name(found[0], count)
        builds.ratio(taken, mine, SESSION, TARGETS.get(count))
        builds.ratio(taken, mine, SILENT)
        builds.ratio(taken, EACH, mine, 50 if count > 1 else None)
        for build in found[1:]:
            builds.ratio(taken, mine, _name(build, count), 0.5)


def _name(build: builds.Build, lanes: int) -> str:
    return f"{build.name} on {lanes} lane{'s'[: lanes - 1]}"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
