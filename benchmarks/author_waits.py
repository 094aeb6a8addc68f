"""How long an author waits in `grade verify --watch`: from a save to the first verdict, and to all of it.

    python benchmarks/author_waits.py EXERCISE [--course COURSE]

Copies the course, watches the exercise, and saves its hidden checks, its reference and a wrong answer, some times each.
Causes are medians, in seconds and as parts of one `import torch` of the same machine at the same time.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any
from unittest.mock import patch

import click

from grader.author import verify
from grader.author.verify import Prover
from grader.course.layout import find_course
from grader.course.load import load_course
from grader.grading.lanes import setup_of
from grader.grading.store import open_store
from grader.model import Exercise

ROUNDS = 3


class Author:
    """Saves files one after another, each after all lines about the last one were printed, and takes the times.

    Args:
        files: the files to save, each with its name in the table.
    """

    def __init__(self, files: list[tuple[str, Path]]) -> None:
        self._files = files
        self._paths: set[Path] = set()
        self._name, self._saved, self._first = "start", time.monotonic(), 0.0
        self.times: dict[str, list[tuple[float, float]]] = {}

    def say(self, *lines: str) -> None:
        """Time a verdict from its lines, in place of printing them; after the last line save the next file."""
        now = time.monotonic() - self._saved
        if not self._first and any(line.startswith("exercise ") for line in lines):
            self._first = now
        if lines and lines[-1].startswith("("):
            self.times.setdefault(self._name, []).append((self._first, now))
            self._save()

    def _save(self) -> None:
        if not self._files:
            raise KeyboardInterrupt
        self._name, path = self._files.pop(0)
        path.write_text(path.read_text() + "\n")
        self._saved, self._first = time.monotonic(), 0.0
        self._paths = {path}

    def saves(self, folder: Path, **options: Any) -> Iterator[set[Path]]:
        """Yield the paths that were saved last, again and again, in place of the library that watches files."""
        del folder, options
        while True:
            yield self._paths


def files_of(exercise: Exercise) -> list[tuple[str, Path]]:
    """Return the files that an author saves, by name: checks, the reference, a wrong answer."""
    assert exercise.hidden_checks is not None
    assert exercise.reference is not None
    return [("checks", exercise.hidden_checks), ("reference", exercise.reference), ("wrong", exercise.wrong[0])]


def import_seconds() -> float:
    """Return the wall seconds of a process that imports torch."""
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    return time.monotonic() - started


@click.command()
@click.argument("name")
@click.option("--course", type=click.Path(path_type=Path), help="A folder with a course; by default the one around.")
def command(name: str, course: Path | None) -> None:
    """Print the seconds from a save to the first verdict and to the last one, for each kind of file."""
    unit = statistics.median(import_seconds() for _ in range(ROUNDS))
    with tempfile.TemporaryDirectory() as folder:
        kept = ignore_patterns(".*", "docs", "tests", "grader", "build")
        root = Path(copytree(course or find_course(Path.cwd()), Path(folder, "course"), ignore=kept))
        (exercise,) = (item for item in load_course(root).exercises if name in (item.id, item.number))
        author = Author(files_of(exercise) * ROUNDS)
        with patch.object(verify, "watch_files", author.saves), suppress(KeyboardInterrupt), open_store(None) as store:
            prover = Prover(load_course(root), setup_of(), store, verify.WATCH_SEEDS, known_only=True)
            prover.watch([exercise.id], author.say)
    click.echo(f"{exercise.id}, in parts of one import of torch ({unit:.2f} s)")
    click.echo(f"{'saved':<12}{'first verdict':>20}{'all of it':>20}")
    for saved, times in author.times.items():
        cells = [statistics.median(column) for column in zip(*times, strict=True)]
        click.echo(f"{saved:<12}" + "".join(f"{f'{cell:.2f} s ({cell / unit:.2f})':>20}" for cell in cells))


if __name__ == "__main__":
    command()
