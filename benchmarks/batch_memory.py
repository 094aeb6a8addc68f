"""Peak memory of `grade batch`: all its processes together, pages that several of them share counted once.

    python benchmarks/batch_memory.py [--submissions 40] [--lanes 2] [--rounds 1] [--against d2f5de22]

The class is that of `short_checks.py`. Every tenth of a second the proportional set sizes (PSS) of the command and of
all its descendants are added up; Linux only, and as a user who may read them. Nothing is timed.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import builds
import click
from short_checks import make_class, make_course

TARGET = 0.7
_STEP_S = 0.1


def peak_mb(command: list[str], build: builds.Build, cwd: Path) -> float:
    """Run a command to its end, and return the peak of its memory in MB.

    Raises:
        click.ClickException: it ended with another status than 0.
    """
    peak = 0
    with (cwd / "log").open("w+") as log:
        process = subprocess.Popen(command, cwd=cwd, env=build.environment(), stdout=log, stderr=subprocess.STDOUT)
        while process.poll() is None:
            peak = max(peak, sum(map(_pss_kb, _family(process.pid))))
            time.sleep(_STEP_S)
        if process.returncode:
            log.seek(0)
            raise click.ClickException(f"{' '.join(command)} ended with {process.returncode}:\n{log.read()}")
    return peak / 1024


def _family(pid: int) -> list[int]:
    """Return the ids of a process and all its descendants."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    family = [pid]
    for member in family:  # which grows meanwhile
        family += [child for child, parent in parents.items() if parent == member]
    return family


def _pss_kb(pid: int) -> int:
    with suppress(OSError):  # as above
        for line in Path("/proc", str(pid), "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


@click.command(help=__doc__)
@click.option("--submissions", default=40)
@click.option("--lanes", default=2)
@click.option("--rounds", default=1)
@builds.against
def main(submissions: int, lanes: int, rounds: int, against: tuple[str, ...]) -> None:
    """Measure the peak memory of a batch with each build in turn, and print the ratios."""
    with tempfile.TemporaryDirectory(prefix="batch-memory-") as folder, builds.opened(against) as found:
        work = Path(folder)
        make_course(work / "course")
        make_class(work / "class", submissions)
        sides: dict[str, Callable[[], float]] = {}
        for build in found:
            course = builds.copy_course(work / "course", build, work / "courses")
            sides[build.name] = partial(_batch, build, work, course, lanes)
        taken = builds.in_turns(sides, rounds)
        for build in found[1:]:
            builds.ratio(taken, found[0].name, build.name, TARGET)


def _batch(build: builds.Build, work: Path, course: Path, lanes: int) -> float:
    out = Path(tempfile.mkdtemp(dir=work)) / "out"
    words = ("batch", work / "class", "--out", out, "-j", str(lanes), "--course", course, "-q")
    return peak_mb(build.grade(*words), build, work)


if __name__ == "__main__":
    main()
