"""How much the separate processes cost: the same checks and submissions, three ways, side by side in one run.

ours          a lane: a check process, a forked worker for each exercise of each submission
unisolated    one pytest session whose checks call the student's module directly: no isolation at all
process each  a fresh interpreter with such a session for each submission

The three take turns, round by round, so that a slow moment of the machine hits all of them. Ratios are taken within a
round; their median is printed with the smallest and largest.

    python benchmarks/against_pytest.py --rounds 5 --submissions 20
    taskset -c 0 python benchmarks/against_pytest.py        # on one core
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from grader.course import load_course, solution_files
from grader.grading import grade_exercise, open_lane
from grader.lane import Lane
from grader.model import Exercise
from grader.submission import read_submission

ROOT = Path(__file__).resolve().parents[1]
IDS = ("predict_strides", "fix_the_loop")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--submissions", type=int, default=20, help="in each round")
    parser.add_argument("--processes", type=int, default=3, help="of them, how many get a process each")
    options = parser.parse_args()
    exercises = [exercise for exercise in load_course(ROOT).exercises if exercise.id in IDS]
    with tempfile.TemporaryDirectory() as folder:
        submissions = make_submissions(exercises, Path(folder), options.submissions)
        started = time.perf_counter()
        with open_lane(exercises, "fork") as lane:
            _ = lane.catalog
            start_up = time.perf_counter() - started
            inside = Unisolated()
            rounds = []
            for number in range(options.rounds):
                ours = seconds_each(lambda: [grade(lane, exercises, path) for path in submissions], len(submissions))
                plain = inside.run(submissions) / len(submissions)
                few = submissions[: options.processes]
                each = seconds_each(lambda few=few: [one_process(path) for path in few], len(few))
                rounds.append((ours, plain, each))
                print(f"round {number + 1}: ours {ours:.3f} s, unisolated {plain:.3f} s, process each {each:.3f} s")
            inside.close()
    print(f"start-up of ours {start_up:.2f} s; {len(exercises)} exercises a submission")
    tell("ours / unisolated", [ours / plain for ours, plain, _ in rounds])
    tell("process each / ours", [each / ours for ours, _, each in rounds])


def make_submissions(exercises: Sequence[Exercise], folder: Path, count: int) -> list[Path]:
    """Submissions of right and wrong answers in turn, half of each."""
    paths = []
    for number in range(count):
        path = folder / f"author{number}"
        path.mkdir()
        for exercise in exercises:
            kind = "right" if number % 2 else "wrong"
            files = [file for file in solution_files(exercise, kind) if exercise.reference]
            (path / f"{exercise.id}.py").write_bytes(files[number // 2 % len(files)].read_bytes())
        paths.append(path)
    return paths


def grade(lane: Lane, exercises: Sequence[Exercise], path: Path) -> None:
    submission = read_submission(path, exercises, path.name)
    for exercise in exercises:
        grade_exercise(exercise, submission, lane, seed=0)


def seconds_each(work: object, count: int) -> float:
    started = time.perf_counter()
    work()  # type: ignore[operator]
    return (time.perf_counter() - started) / count


class Unisolated:
    """A warm process with one pytest session, in which student code and checks run together."""

    def __init__(self) -> None:
        command = [sys.executable, str(Path(__file__).with_name("unisolated.py")), *IDS]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._read()

    def run(self, submissions: Sequence[Path]) -> float:
        """Seconds for all of them, by the process's own clock."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([str(path) for path in submissions]) + "\n")
        self._process.stdin.flush()
        return float(self._read())

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def one_process(path: Path) -> None:
    command = [sys.executable, str(Path(__file__).with_name("unisolated.py")), *IDS]
    subprocess.run(command, input=json.dumps([str(path)]) + "\n", text=True, capture_output=True, check=True)


def tell(name: str, ratios: Sequence[float]) -> None:
    print(f"{name}: median {statistics.median(ratios):.2f} (from {min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
