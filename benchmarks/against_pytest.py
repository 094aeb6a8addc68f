"""How much the separate processes cost: the same checks and submissions, three ways, side by side in one run.

ours          lanes, each a check process, and a forked worker for each exercise of each submission
unisolated    a plain `pytest -q` session in which the same checks call the student's module directly: no isolation
process each  such a session for each submission

The three take turns, round by round, so that a slow moment of the machine hits all of them. Ratios are taken within a
round; their median is printed with the smallest and largest. Checks that measure speed are left out, as they need
workers; as many checks must pass here as there. The last ratio has our start-up in it, for as many submissions.

    python benchmarks/against_pytest.py --rounds 5 --submissions 20 [--lanes 2]
    taskset -c 0 python benchmarks/against_pytest.py --rounds 1 --submissions 200       # on one core
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

from grader.course.answers import read_answer
from grader.course.load import load_course
from grader.grading.runtime import Runtime
from grader.model import Exercise, Outcome, Verdict
from grader.model.messages import Part, Setup, Start
from grader.runner.lane import Lane

ROOT = Path(__file__).resolve().parents[1]
IDS = ("predict_strides", "fix_the_loop")

Only = dict[str, list[str]]
Found = dict[str, list[Outcome]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--submissions", type=int, default=20, help="in each round")
    parser.add_argument("--processes", type=int, default=3, help="of them, how many get a process each")
    parser.add_argument("--lanes", type=int, default=1)
    options = parser.parse_args()
    exercises = [exercise for exercise in load_course(ROOT).exercises if exercise.id in IDS]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        submissions = make_submissions(exercises, Path(folder), options.submissions)
        threads = opened.enter_context(ThreadPoolExecutor(options.lanes))
        started = time.perf_counter()
        runtime = opened.enter_context(Runtime(exercises, Setup(Start.FORK)))
        lanes = [opened.enter_context(closing(runtime.open_lane())) for _ in range(options.lanes)]
        list(threads.map(lambda lane: lane.collected, lanes))
        start_up = time.perf_counter() - started
        only = without_measures(lanes[0], exercises)
        rounds = []
        for number in range(options.rounds):
            began = time.perf_counter()
            shares = [submissions[place :: options.lanes] for place in range(options.lanes)]
            found: Found = {}
            for share in threads.map(lambda lane, own: grade_all(lane, exercises, own, only), lanes, shares):
                found |= share
            ours = (time.perf_counter() - began) / len(submissions)
            passed = sum(row.verdict is Verdict.PASSED for rows in found.values() for row in rows)
            seconds, also_passed = unisolated(exercises, Path(folder))
            plain = seconds / len(submissions)
            if passed != also_passed:
                tell_others(found)
                sys.exit(f"{passed} checks pass here, and {also_passed} without isolation")
            few = submissions[: options.processes]
            began = time.perf_counter()
            for path in few:
                with tempfile.TemporaryDirectory() as alone:
                    Path(alone, path.name).symlink_to(path)
                    unisolated(exercises, Path(alone))
            each = (time.perf_counter() - began) / len(few)
            rounds.append((ours, plain, each))
            print(f"round {number + 1}: ours {ours:.3f} s, unisolated {plain:.3f} s, process each {each:.3f} s")
    count = len(submissions)
    print(f"start-up of ours {start_up:.2f} s; {len(exercises)} exercises a submission; lanes: {options.lanes}")
    tell("ours / unisolated", [ours / plain for ours, plain, _ in rounds])
    tell("process each / ours", [each / ours for ours, _, each in rounds])
    tell("the same with our start-up", [count * each / (start_up + count * ours) for ours, _, each in rounds])


def make_submissions(exercises: Sequence[Exercise], folder: Path, count: int) -> list[Path]:
    """Submissions of right and wrong answers in turn, half of each."""
    paths = []
    for number in range(count):
        path = folder / f"author{number}"
        path.mkdir()
        for exercise in exercises:
            files = exercise.right if number % 2 else exercise.wrong
            answer = read_answer(exercise, files[number // 2 % len(files)])
            (path / exercise.file_name).write_bytes(answer.source)
        paths.append(path)
    return paths


def without_measures(lane: Lane, exercises: Sequence[Exercise]) -> Only:
    """By exercise the ids of the checks that measure nothing from outside: without isolation there is no outside."""
    return {
        exercise.id: [check.id for check in lane.checks_of(exercise) if check.category != "performance"]
        for exercise in exercises
    }


def grade_all(lane: Lane, exercises: Sequence[Exercise], paths: Sequence[Path], only: Only) -> Found:
    """What came of all checks, by author."""
    return {path.name: grade(lane, exercises, path, only) for path in paths}


def grade(lane: Lane, exercises: Sequence[Exercise], path: Path, only: Only) -> list[Outcome]:
    """What came of all checks."""
    found: list[Outcome] = []
    for exercise in exercises:
        files = {f"{exercise.id}.py": (path / f"{exercise.id}.py").read_bytes()}
        found += lane.run(exercise, files, 0, part=Part(frozenset(only[exercise.id]), again=True)).outcomes
    return found


def tell_others(found: Mapping[str, Sequence[Outcome]]) -> None:
    """Print the checks that did not pass, and why: one of them is not as it should be."""
    for author, rows in found.items():
        for row in rows:
            if row.verdict is not Verdict.PASSED:
                print(f"{author} {row.check} {row.verdict.value}: {row.detail or row.message}")


def unisolated(exercises: Sequence[Exercise], folder: Path) -> tuple[float, int]:
    """Seconds of a plain session for all submissions in a folder, without its start-up, and how many checks passed."""
    files = [str(path) for item in exercises for path in (item.shown_checks, item.hidden_checks) if path is not None]
    own = [
        "-c",
        str(ROOT / "grader/session/pytest.ini"),
        "--import-mode=importlib",
        "-p",
        "no:cacheprovider",
        "-p",
        "unisolated",
        *files,
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *own],
        env=os.environ
        | {"CLASS": str(folder), "PYTHONPATH": str(Path(__file__).parent), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds, passed = re.search(r"^seconds (.*)", done.stdout, re.M), re.search(r"(\d+) passed", done.stdout)
    if seconds is None or passed is None:
        sys.exit(f"the plain session failed:\n{done.stdout}{done.stderr}")
    return float(seconds[1]), int(passed[1])


def tell(name: str, ratios: Sequence[float]) -> None:
    print(f"{name}: median {statistics.median(ratios):.2f} (from {min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
