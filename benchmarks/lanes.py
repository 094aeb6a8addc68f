"""One lane against several: the same class, in turns, whole commands; also lanes that are each put on a core.

    python benchmarks/lanes.py [--authors 12] [--handin first] [--lanes 2] [--rounds 3]

Prints the seconds of each run, the ratio to the run with one lane in the same round, how many outcomes were
inconclusive at first, and whether the gradebooks are equal. Right answers are two thirds of what is handed in: one that
lost points is named.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from grader.course.answers import read_answer
from grader.course.load import load_course
from grader.model import Course

ROOT = Path(__file__).resolve().parent.parent
RIGHT = 0.65
COMMAND = "from grader.cli import main; main()"
PINNED = f"""
import os, threading
from grader.runner.pool import LanePool, cores

own, work, place = iter(cores()), LanePool._call_with_lane, threading.local()

def on_a_core(*given):
    if not hasattr(place, "core"):
        place.core = next(own)
        os.sched_setaffinity(0, {{place.core}})  # of this thread, and of whatever it starts
    return work(*given)

LanePool._call_with_lane = on_a_core
{COMMAND}
"""


def hand_in(course: Course, handin: str, folder: Path, authors: int) -> set[tuple[str, str]]:
    """Write the submissions of a class; return (author, exercise) of each right answer."""
    luck, right = random.Random(15), set()
    asked = next(item.exercises for item in course.handins if item.id == handin)
    for number in range(authors):
        own = folder / f"author{number:03}"
        own.mkdir(parents=True)
        for exercise in (item for item in course.exercises if item.id in asked):
            if luck.random() < RIGHT:
                assert exercise.reference is not None
                text = read_answer(exercise, luck.choice([exercise.reference, *exercise.right])).source
                right.add((own.name, exercise.id))
            else:
                text = read_answer(exercise, luck.choice(exercise.wrong)).source
            (own / exercise.file_name).write_bytes(text)
    return right


def run(code: str, lanes: int, handin: str, folder: Path, out: Path) -> float:
    """Grade the class with a number of lanes, and return the seconds."""
    out.mkdir(mode=0o700)
    (out / "seed").write_text(f"{bytes(32).hex()}\n")
    command = [sys.executable, "-c", code, "batch", str(folder), "--out", str(out), "--handin", handin, "-q"]
    started = time.perf_counter()
    subprocess.run([*command, "-j", str(lanes)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def inconclusive(out: Path) -> int:
    """Return how many results had an inconclusive outcome at first."""
    with closing(sqlite3.connect(out / "journal.sqlite")) as journal:
        query = "SELECT count(*) FROM results WHERE outcomes LIKE '%\"inconclusive\"%'"
        return int(journal.execute(query).fetchone()[0])


def lost(course: Course, out: Path, right: set[tuple[str, str]]) -> list[str]:
    """Return the right answers without full marks."""
    points = {exercise.id: exercise.points / 100 for exercise in course.exercises}
    with (out / "gradebook.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["author"]: row for row in csv.DictReader(file)}
    return [f"{author} {id}" for author, id in sorted(right) if float(rows[author][id]) < points[id]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--authors", type=int, default=12)
    parser.add_argument("--handin", default="first")
    parser.add_argument("--lanes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    course = load_course(ROOT)
    ways = {"one": (COMMAND, 1), "several": (COMMAND, asked.lanes), "pinned": (PINNED, asked.lanes)}
    ratios: dict[str, list[float]] = {name: [] for name in ways}
    with tempfile.TemporaryDirectory() as root:
        right = hand_in(course, asked.handin, Path(root, "in"), asked.authors)
        for number in range(asked.rounds):
            seconds, books = {}, set()
            for name in random.Random(number).sample(list(ways), len(ways)):
                out = Path(root, f"{name}{number}")
                seconds[name] = run(*ways[name], asked.handin, Path(root, "in"), out)
                books.add((out / "gradebook.csv").read_bytes())
                told = (
                    f"{inconclusive(out)} inconclusive at first, right and lost: {lost(course, out, right) or 'none'}"
                )
                print(f"{number} {name:9} {seconds[name]:6.1f} s  load {os.getloadavg()[0]:.1f}  {told}", flush=True)
            for name, rows in ratios.items():
                rows.append(seconds["one"] / seconds[name])
            print(f"{number} gradebooks {'equal' if len(books) == 1 else 'DIFFER'}", flush=True)
    for name, rows in ratios.items():
        print(f"{name:9} {statistics.median(rows):.2f} times as fast ({min(rows):.2f} to {max(rows):.2f})")


if __name__ == "__main__":
    main()
