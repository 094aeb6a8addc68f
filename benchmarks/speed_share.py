"""What measuring speed takes: the same class with its checks of speed and without them, in turns, whole commands.

    python benchmarks/speed_share.py [--authors 10] [--handin first] [--lanes 1] [--rounds 3]

A check counts as one of speed where an outcome of the first run has a comparison of times. Prints the seconds of each
run, their ratio, and which share of the seconds of all outcomes those of such checks are, by exercise.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import tempfile
from collections import defaultdict
from contextlib import closing
from pathlib import Path

from lanes import COMMAND, ROOT, hand_in, run

from grader.batch.journal import FILE
from grader.course.load import load_course
from grader.grading.outcomes import Outcomes
from grader.model import Course, GradedExercise
from grader.model.files import from_json

WITHOUT = """
from dataclasses import replace
from grader.grading import runtime

grade = runtime.grade_exercise

def without(work, lane, *rest):
    skipped = {speed}.get(work.exercise.id, ())
    ids = tuple(check.id for check in lane.checks_of(work.exercise) if check.id not in skipped)
    return grade(replace(work, plan=replace(work.plan, checks=ids)), lane, *rest)

runtime.grade_exercise = without
"""


def graded(course: Course, out: Path) -> list[GradedExercise]:
    """Return all exercises that were graded in a run, also those that were graded again."""
    exercises = {exercise.id: exercise for exercise in course.exercises}
    with closing(sqlite3.connect(out / FILE)) as journal:
        rows = journal.execute("SELECT exercise, outcomes FROM results ORDER BY id").fetchall()
    return [from_json(Outcomes, found).graded(exercises[id]) for id, found in rows]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--authors", type=int, default=10)
    parser.add_argument("--handin", default="first")
    parser.add_argument("--lanes", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    course = load_course(ROOT)
    speed: dict[str, list[str]] = {}
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as root:
        hand_in(course, asked.handin, Path(root, "in"), asked.authors)
        for number in range(asked.rounds):
            seconds: list[float] = []
            for name in ("with", "without"):
                code = COMMAND if name == "with" else WITHOUT.format(speed=speed) + COMMAND
                out = Path(root, f"{name}{number}")
                seconds.append(run(code, asked.lanes, asked.handin, Path(root, "in"), out))
                if not speed:
                    speed = tell(graded(course, out))
                print(f"{number} {name:8} {seconds[-1]:6.1f} s  load {os.getloadavg()[0]:.1f}", flush=True)
            ratios.append(seconds[0] / seconds[1])
    print(f"{statistics.median(ratios):.2f} times as long with speed ({min(ratios):.2f} to {max(ratios):.2f})")


def tell(found: list[GradedExercise]) -> dict[str, list[str]]:
    """Print the share of each exercise's seconds that speed checks took; return the ids of these checks by exercise."""
    rows = [(item.exercise.id, row.check.id, row.outcome) for item in found for row in item.checks]
    speed = {(exercise, check) for exercise, check, outcome in rows if outcome.speed}
    whole: dict[str, float] = defaultdict(float)
    measured: dict[str, float] = defaultdict(float)
    for exercise, check, outcome in rows:
        whole[exercise] += outcome.seconds
        measured[exercise] += outcome.seconds if (exercise, check) in speed else 0
    for exercise, seconds in sorted(whole.items()):
        print(f"{exercise:30} {seconds:6.1f} s, {measured[exercise] / seconds:4.0%} for speed")
    all_s = sum(whole.values())
    print(f"{'all':30} {all_s:6.1f} s, {sum(measured.values()) / all_s:4.0%} for speed")
    return {exercise: sorted(check for id, check in speed if id == exercise) for exercise in whole}


if __name__ == "__main__":
    main()
