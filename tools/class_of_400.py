"""A class of right, wrong, broken and hostile submissions in each shape, graded in one command; then killed, and again.

    python tools/class_of_400.py [--students N] [--exercise EX]... [--shape SHAPE]... [--kills N] [--keep DIR]

For each shape a class is made (tools/make_class.py), graded by `grade batch`, and every report is held against the
manifest: full marks where the answer is right, none or fewer where it is not, nothing broken, nobody missing, and no
attack that says of itself that it got through. Then the batch of the first shape is begun anew with the same secret,
killed by SIGKILL at random moments, each time begun again, and at last left alone: the gradebook must be the same byte
for byte, and nothing may have been graded twice.

The exercises by default are the first of the course without a check of speed: such a check may be undecided at first on
a busy machine, and the gradebook then differs for a reason that has nothing to do with kills. With such exercises, what
differs is printed. Exit status 1 if anything does not hold. The numbers that were found stand in
tools/class_of_400.md.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import click
from make_class import SHAPES, exercises_named, make_class

from grader.model import Exercise

_TICK_S = 0.05
EXERCISES = ("01-1", "02-1", "02-3", "03-2", "05-2")


def grade(folder: Path, out: Path, exercises: Sequence[Exercise]) -> subprocess.Popen[bytes]:
    """Start `grade batch` for a folder of submissions, and return the process."""
    only = [word for exercise in exercises for word in ("--only", exercise.id)]
    command = [sys.executable, "-m", "grader", "batch", str(folder), "--out", str(out), "--quiet", *only]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def reports_in(out: Path) -> dict[str, dict[str, Any]]:
    """Return the JSON reports in a folder of results, by author."""
    found = (json.loads(path.read_bytes()) for path in (out / "reports").glob("*.json"))
    return {report["author"]: report for report in found}


def faults(manifest: Mapping[str, Any], out: Path) -> Iterator[str]:
    """Yield a sentence for each submission whose report is not as the manifest says."""
    reports = reports_in(out)
    for key, student in manifest["submissions"].items():
        if key not in reports:
            yield f"{key}: no report"
            continue
        report = reports.pop(key)
        if sorted(report["authors"]) != sorted(student["authors"]):
            yield f"{key}: of {report['authors']}, not {student['authors']}"
        rows = {row["id"]: row for row in report["exercises"]}
        for id, asked in student["exercises"].items():
            if (why := _fault(rows.get(id), asked["expect"])) is not None:
                yield f"{key}: {id}: {asked['kind']} {asked['told']}: {why}"
    yield from (f"{key}: nobody of that name handed anything in" for key in reports)


def _fault(row: Mapping[str, Any] | None, expect: str) -> str | None:
    if row is None:
        return "not graded"
    earned, possible, undecided = (row["score"][name] for name in ("earned", "possible", "undecided"))
    told = f"earned {earned} of {possible}, {undecided} undecided, where it should be: {expect}"
    if broken := [check["id"] for check in row["checks"] if check["verdict"] == "broken"]:
        return f"broken: {', '.join(broken)}"
    if "BREACH" in row["output"]:
        return f"got through: {row['output']}"
    holds = {
        "full": (earned + undecided == possible and row["state"] == "done") or undecided > 0,
        "loses": earned < possible,
        "zero": earned == 0 and undecided == 0,
        "blank": row["state"] == "not_started" and row["handed_in"],
        "missing": not row["handed_in"],
        "any": True,
    }
    return None if holds[expect] else told


def killed(
    folder: Path, whole: Path, exercises: Sequence[Exercise], kills: int, seconds: float, rng: random.Random
) -> Iterator[str]:
    """Start a batch again, kill it `kills` times, and let it end; yield what differs from the batch never killed."""
    out = whole.with_name(f"{whole.name}-killed")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(mode=0o700)
    shutil.copy(whole / "seed", out)
    for number in range(kills):
        before = _reports(out)
        batch = grade(folder, out, exercises)
        # Two of three in the midst of the work, the third anywhere, also while it starts.
        while number % 3 and batch.poll() is None and _reports(out) == before:
            time.sleep(_TICK_S)
        # So that all of them together come about as far as the whole.
        time.sleep(rng.uniform(0, 1) * seconds / (kills + 1))
        batch.send_signal(signal.SIGKILL)
        batch.communicate()
        done = _outcomes(out)
        click.echo(f"  kill {number + 1}: {'' if batch.returncode < 0 else 'it had ended; '}{done} outcomes are kept")
    last = grade(folder, out, exercises)
    told, _ = last.communicate()
    if last.returncode not in (0, 3):
        yield f"the last run: {told.decode()}"
    if (out / "gradebook.csv").read_bytes() != (whole / "gradebook.csv").read_bytes():
        yield "the gradebook is another one"
        yield from _differences(reports_in(whole), reports_in(out))
    with closing(sqlite3.connect(out / "journal.sqlite")) as journal:
        twice = journal.execute(
            "SELECT author, exercise, count(*) FROM results WHERE outcomes NOT LIKE '%\"inconclusive\"%'"
            " AND outcomes NOT LIKE '%\"broken\"%' GROUP BY author, exercise HAVING count(*) > 1"
        ).fetchall()
    yield from (f"{author}: {exercise} was graded {count} times" for author, exercise, count in twice)


def _reports(out: Path) -> int:
    """Return the number of reports in a folder of results; the journal, which has more, is locked by the batch."""
    return sum(1 for _ in (out / "reports").glob("*.json"))


def _outcomes(out: Path) -> int:
    try:
        with closing(sqlite3.connect(out / "journal.sqlite")) as journal:
            (count,) = journal.execute("SELECT count(*) FROM results").fetchone()
    except sqlite3.Error:
        return 0  # it was killed before there was a journal
    return int(count)


def _differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    for author in sorted({*one, *other}):
        before, after = (
            {(row["id"], check["id"]): check["verdict"] for row in found.get(author, {}).get("exercises", [])
             for check in row["checks"]}
            for found in (one, other)
        )  # fmt: skip
        for place in before.keys() | after.keys():
            if before.get(place) != after.get(place):
                yield f"{author}: {' '.join(place)}: {before.get(place)}, and {after.get(place)} where it was killed"


@click.command()
@click.option("--students", default=400, show_default=True)
@click.option("--exercise", "names", multiple=True, default=EXERCISES, show_default=True)
@click.option("--shape", "shapes", multiple=True, type=click.Choice(list(SHAPES)), help="By default all.")
@click.option("--kills", default=10, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--keep", type=click.Path(path_type=Path), help="A folder for it all; by default one that is removed.")
def command(
    students: int, names: tuple[str, ...], shapes: tuple[str, ...], kills: int, seed: int, keep: Path | None
) -> None:
    """Grade a class in each shape, then kill one batch again and again."""
    root = keep or Path(tempfile.mkdtemp(prefix="class-of-400-"))
    exercises = exercises_named(names, len(names))
    click.echo(f"{students} submissions of {', '.join(exercise.id for exercise in exercises)}; {os.cpu_count()} cores")
    problems, first = 0, ""
    seconds: dict[str, float] = {}
    try:
        for shape in shapes or SHAPES:
            first = first or shape
            folder = make_class(root / shape, exercises, shape, students, seed)
            out = root / shape / "out"
            started = time.monotonic()
            batch = grade(folder, out, exercises)
            told, _ = batch.communicate()
            seconds[shape] = time.monotonic() - started
            found = list(faults(json.loads((root / shape / "manifest.json").read_bytes()), out))
            if batch.returncode:
                found.insert(0, f"exit status {batch.returncode}: {told.decode()}")
            _tell(f"{shape}: {seconds[shape]:.0f} s", found)
            problems += len(found)
        if kills:
            click.echo(f"{first}, killed {kills} times:")
            folder = next(path for path in (root / first).iterdir() if path.stem == first)
            found = list(killed(folder, root / first / "out", exercises, kills, seconds[first], random.Random(seed)))
            _tell("after the kills", found)
            problems += len(found)
    finally:
        if keep is None:
            shutil.rmtree(root, ignore_errors=True)
    sys.exit(1 if problems else 0)


def _tell(what: str, found: Sequence[str]) -> None:
    click.echo(f"{what}: {'all of it holds' if not found else f'{len(found)} faults'}")
    for line in found:
        click.echo(f"  {line}")
    sys.stdout.flush()


if __name__ == "__main__":
    command()
