"""What a student waits for: a typed `grade` from Enter to the prompt, and `grade watch` from a save to its verdict.

    python benchmarks/student_waits.py [--rounds 5] [--against d2f5de22] [EXERCISE]

Commands take turns with `import torch` alone and with a Python that does nothing. `cold` is graded without processes of
an earlier command, and `warm` with them, if the build keeps any. A save is timed from before the file is written until
the line with the points was read.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

import builds
import click

from grader.course.answers import read_answer
from grader.course.load import find_exercises, load_course

TORCH, NOTHING = "import torch", "python -c pass"
COLD, WARM, SAVED, SYNTAX, HELP = "cold", "warm", "saved result", "a syntax error", "--help"
TARGETS = {COLD: 1.15, WARM: 0.25}
_WITHOUT_WARM = {"TENSORGRADE_WARM": "0"}
"""Where nothing of an earlier command may be used; older builds, which keep nothing, do not know it."""


@click.command(help=__doc__)
@click.argument("exercise", default="read_the_storage")
@click.option("--saves", default=10, help="How many saves of each build are timed.")
@builds.rounds
@builds.against
def main(exercise: str, saves: int, rounds: int, against: tuple[str, ...]) -> None:
    """Time the commands of each build in turn, then the saves in its `grade watch`."""
    (found,) = find_exercises(load_course(builds.ROOT), exercise, ())
    assert found.reference is not None
    answer = read_answer(found, found.reference).source
    python: dict[str, list[str]] = {NOTHING: [sys.executable, "-c", "pass"], TORCH: [sys.executable, "-c", TORCH]}
    with tempfile.TemporaryDirectory(prefix="student-waits-") as folder, builds.opened(against) as every:
        sides: dict[str, Callable[[], float]] = {}
        files: dict[str, Path] = {}
        for name, command in python.items():
            sides[name] = partial(_seconds, command, every[0], Path(folder))
        for build in every:
            course = Path(folder, build.name.replace("/", "_"))
            builds.run(build.grade("start", course), Path(folder), build.environment())
            file = files[build.name] = next(course.glob(f"exercises/*/{found.id}/{found.id}.py"))
            graded = partial(_graded, build, file, found.id)
            sides |= {
                f"{build.name}, {COLD}": partial(graded, answer, "--fresh", **_WITHOUT_WARM),
                f"{build.name}, {WARM}": partial(graded, answer, "--fresh"),
                f"{build.name}, {SAVED}": partial(graded, answer),
                f"{build.name}, {SYNTAX}": partial(graded, b"def (:\n"),
                f"{build.name}, {HELP}": partial(_seconds, build.grade("--help"), build, course),
            }
        taken = builds.in_turns(sides, rounds)
        for build in every:
            for what in (COLD, WARM, SAVED, SYNTAX):
                builds.ratio(taken, f"{build.name}, {what}", TORCH, TARGETS.get(what))
            builds.ratio(taken, f"{build.name}, {HELP}", NOTHING, 2.5)
        for build in every[1:]:
            for what in (COLD, WARM, SAVED, SYNTAX, HELP):
                builds.ratio(taken, f"{every[0].name}, {what}", f"{build.name}, {what}")
        watched = {build.name: saves_of(build, files[build.name], found.id, answer, saves) for build in every}
        builds.run(every[0].grade("stop"), Path(folder), every[0].environment())  # its warm processes
    for name, ms in watched.items():
        print(f"{name}, save to verdict: median {statistics.median(ms):.0f} ms, longest {max(ms):.0f} ms")


def _graded(build: builds.Build, file: Path, exercise: str, text: bytes, *options: str, **environment: str) -> float:
    file.write_bytes(text)
    return _seconds(build.grade(exercise, *options), build, file.parent, environment)


def _seconds(command: list[str], build: builds.Build, cwd: Path, environment: Mapping[str, str] | None = None) -> float:
    """Run a command and return its seconds; raise unless its exit status is 0, or 1 for a wrong answer."""
    ran = builds.run(command, cwd, build.environment(**(environment or {})))
    if ran.status not in (0, 1):
        raise click.ClickException(f"{' '.join(command)} ended with {ran.status}:\n{ran.text}")
    return ran.wall


def saves_of(build: builds.Build, file: Path, exercise: str, text: bytes, times: int) -> list[float]:
    """Return the milliseconds from each save of a right answer, with a comment that differs, to its verdict.

    Args:
        build: the build whose `grade watch` runs.
        file: the student's file of the exercise.
        exercise: the id of the exercise.
        text: the source of the answer.
        times: the number of saves.
    """
    file.write_bytes(text)
    process = subprocess.Popen(
        build.grade("watch", exercise),
        cwd=file.parent,
        env=build.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        _wait_for(process.stdout, " points")
        taken = []
        for number in range(times):
            started = time.perf_counter()
            beside = file.with_suffix(".new")
            beside.write_bytes(text + f"\n# {number}\n".encode())
            os.replace(beside, file)
            _wait_for(process.stdout, " points")
            taken.append(1000 * (time.perf_counter() - started))
            time.sleep(0.3)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    return taken


def _wait_for(lines: Iterable[str], words: str) -> None:
    """Read lines until one contains `words`; raise if there is none."""
    for line in lines:
        if words in line:
            return
    raise click.ClickException("the watch has ended")


if __name__ == "__main__":
    main()
