"""The first commands after `uv tool install`, next to the same after pip.

    python benchmarks/first_run.py [--rounds 3] [EXERCISE]

pip compiles what it installs, and uv leaves that to the first import. So the one environment is a copy of this one
with all bytecode, and the other a copy without any; the files are hard links where that is possible, and the grader is
this tree's, installed as a folder. Each round begins with fresh copies: `grade start`, then the same exercise twice.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import builds
import click

from grader.course.answers import read_answer
from grader.course.load import find_exercises, load_course
from grader.model import Exercise

STEPS = ("grade start", "first grade", "second grade")


def install(folder: Path, *, compiled: bool) -> Path:
    """Copy this environment, with this tree in it, and return its Python."""
    left_out = None if compiled else shutil.ignore_patterns("__pycache__")
    shutil.copytree(sys.prefix, folder, symlinks=True, copy_function=_linked, ignore=left_out)
    packages = next(folder.glob("lib*/python*/site-packages"))
    for file in packages.glob("__editable__*"):
        file.unlink()
    shutil.copytree(builds.ROOT / "grader", packages / "grader", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("exercises", "solutions"):
        shutil.copytree(builds.ROOT / name, packages / "grader" / "bundled" / name)
    shutil.copy(builds.ROOT / "course.yaml", packages / "grader" / "bundled")
    python = folder / "bin" / "python"
    if compiled:
        subprocess.run([python, "-m", "compileall", "-q", packages / "grader"], check=True)
    return python


def _linked(source: str, target: str) -> None:
    """Link a file; copy it where it lies in another file system."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target)


@click.command(help=__doc__)
@click.argument("exercise", default="read_the_storage")
@builds.rounds
def main(exercise: str, rounds: int) -> None:
    """Time the first steps after an installation with and without bytecode, in turn; the first round does not count."""
    (found,) = find_exercises(load_course(builds.ROOT), exercise, ())
    taken: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="first-run-") as folder:
        for turn in range(rounds + 1):
            for compiled in (True, False) if turn % 2 else (False, True):
                for step, seconds in steps(Path(folder, "installed"), found, compiled=compiled).items():
                    print(f"round {turn}, {step}: {seconds:.2f} s", flush=True)
                    taken.setdefault(step, []).append(seconds)
    counted = {step: found[1:] for step, found in taken.items()}
    for step in STEPS:
        builds.ratio(counted, f"{step} after uv", f"{step} after pip", 1.0 if step == STEPS[-1] else None)


def steps(place: Path, exercise: Exercise, *, compiled: bool) -> dict[str, float]:
    """Install, run each step with a right answer, remove the installation, and return the seconds of each step."""
    python = install(place / "env", compiled=compiled)
    course, taken = place / "course", {}
    environment = os.environ | {"TENSORGRADE_WARM": "0"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    assert exercise.reference is not None
    for step in STEPS:
        words = ["start", str(course)] if step == STEPS[0] else [exercise.id, "--fresh"]
        command = [str(python), "-m", "grader", *words]
        ran = builds.run(command, place if step == STEPS[0] else course, environment)
        if ran.status:
            raise click.ClickException(f"{' '.join(command)} ended with {ran.status}:\n{ran.text}")
        taken[f"{step} after {'pip' if compiled else 'uv'}"] = ran.wall
        answer = read_answer(exercise, exercise.reference).source
        next(course.glob(f"exercises/*/{exercise.id}/{exercise.id}.py")).write_bytes(answer)
    shutil.rmtree(place)
    return taken


if __name__ == "__main__":
    main()
