"""What the benchmarks of whole commands share: builds to compare, commands that take turns, and ratios.

A build is a folder with the source of this project: this tree, and for each `--against COMMIT` a git worktree of that
commit in a temporary folder. All builds run in the environment of this Python, with their own folder in PYTHONPATH, so
that nothing differs but the source. Each is compiled first, as pip compiles what it installs.

Only ratios of what ran in the same round mean something, and the first round warms caches: it is left out.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
import yaml

ROOT = Path(__file__).resolve().parents[1]

against = click.option(
    "--against", metavar="COMMIT", multiple=True, help="An older build to compare with; may be given several times."
)
rounds = click.option("--rounds", default=3, show_default=True, help="Without the first, which is left out.")


@dataclass(frozen=True)
class Build:
    """One build.

    Attributes:
        name: "this", or the commit.
        root: the folder with its source.
    """

    name: str
    root: Path

    def grade(self, *arguments: str | Path) -> list[str]:
        """Return the command `grade` with these arguments, as a list for `subprocess`."""
        return [str(Path(sys.executable).with_name("grade")), *map(str, arguments)]

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment in which commands use this build."""
        return os.environ | {"PYTHONPATH": str(self.root)} | more


@dataclass(frozen=True)
class Ran:
    """A command that has ended: its seconds by the clock, those of all its processes, what it printed, its status."""

    wall: float
    cpu: float
    text: str
    status: int


@contextmanager
def opened(commits: Sequence[str]) -> Iterator[list[Build]]:
    """Check the commits out into worktrees, yield their builds after that of this tree, and remove the worktrees.

    Raises:
        click.ClickException: git knows no such commit.
    """
    builds = [Build("this", ROOT)]
    with tempfile.TemporaryDirectory(prefix="builds-") as folder:
        try:
            for commit in commits:
                builds.append(Build(commit, Path(folder, commit.replace("/", "_"))))
                _git("worktree", "add", "--detach", str(builds[-1].root), commit)
            for build in builds:
                command = [sys.executable, "-m", "compileall", "-q", str(build.root / "grader")]
                subprocess.run(command, check=True)
            yield builds
        finally:
            for build in builds[1:]:
                if build.root.exists():
                    _git("worktree", "remove", "--force", str(build.root))


_KNOWS = """
import json
from grader.course.files import ExerciseFile
try:
    from grader.check.renamed import NEW_NAMES
except ImportError:
    NEW_NAMES = {}
print(json.dumps([sorted(ExerciseFile.model_fields), sorted(NEW_NAMES.values())]))
"""
"""Run with another build: which keys an exercise has there, and which words of checks have their name of today."""


def copy_course(course: Path, build: Build, folder: Path) -> Path:
    """Copy a course of this build so that another one can grade with it.

    Args:
        course: the course.
        build: the build that is to grade; keys of exercise.yaml that it does not know are left out, and words of checks
            have the names that they had there.
        folder: the folder for the copy, which has the build's name.

    Returns:
        The path of the copy.
    """
    copied = folder / build.name.replace("/", "_")
    shutil.copytree(course, copied)
    ran = run([sys.executable, "-c", _KNOWS], build.root, build.environment())
    keys, words = json.loads(ran.text)
    # Here: the commands of a benchmark import this module with an older build's source, which has no such file.
    from grader.check.renamed import NEW_NAMES

    before = {new: old for old, new in NEW_NAMES.items() if new not in words}
    # A word of ours stands alone: `torch.allclose` is PyTorch's.
    word = re.compile(rf"(?<![\w.])({'|'.join(before)})\b") if before else None
    for file in copied.rglob("check_*.py"):
        if word is not None:
            file.write_text(word.sub(lambda match: before[match[0]], file.read_text("utf-8")), "utf-8")
    for file in copied.rglob("exercise.yaml"):
        kept = {key: value for key, value in yaml.safe_load(file.read_text("utf-8")).items() if key in keys}
        file.write_text(yaml.safe_dump(kept, sort_keys=False), "utf-8")
    return copied


def _git(*words: str) -> None:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(f"git {' '.join(words)}: {done.stderr.strip()}")


def run(command: Sequence[str], cwd: Path = ROOT, environment: Mapping[str, str] | None = None) -> Ran:
    """Run a command to its end; return its times, output and exit status, and do not raise for any status."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(wall, cpu, done.stdout + done.stderr, done.returncode)


def in_turns(sides: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Run all sides in turns, every other round backwards.

    Args:
        sides: the functions to run, by name; each returns seconds, or another number.
        rounds: the number of rounds that count; one more goes before them.

    Returns:
        The numbers of each side, without those of the first round.
    """
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(rounds + 1):
        for name in sorted(sides, key=list(sides).index, reverse=bool(turn % 2)):
            taken[name].append(sides[name]())
        numbers = ", ".join(f"{name} {found[-1]:.2f}" for name, found in taken.items())
        print(f"round {turn}{'' if turn else ' (left out)'}: {numbers}", flush=True)
    return {name: found[1:] for name, found in taken.items()}


def ratio(taken: Mapping[str, Sequence[float]], over: str, under: str, target: float | None = None) -> None:
    """Print the median of the ratios of two sides within the rounds, the smallest and the largest, and the target.

    Without a round that counts there is nothing to print.
    """
    found = [one / other for one, other in zip(taken[over], taken[under], strict=True)]
    if not found:
        return
    aim = "" if target is None else f"; target {target:g}"
    print(f"{over} / {under}: median {statistics.median(found):.2f} (from {min(found):.2f} to {max(found):.2f}){aim}")
