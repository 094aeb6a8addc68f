"""How often the same program with the same seed gets another score: a table by exercise and load.

The programs of an exercise are its starter, its reference, its right variants and its wrong answers. Each is graded as
any submission is, and what is inconclusive is repeated, while the loads of `speed_verdicts.py` run beside. A score
differs if it is not the one that this program with this seed got most often under any load.

Every run is a line in a file; what was interrupted goes on where it ended. The last line of the table tells whether any
wrong answer had full marks with any seed.

    python tools/same_score.py run scores.jsonl 02-1 07-1 --times 10 --seeds 3 --minutes 20
    python tools/same_score.py run wrong.jsonl --kind wrong --load idle --times 1 --seeds 50
    python tools/same_score.py table scores.jsonl
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from speed_verdicts import busy, far_loads, read

from grader.author.cases import AnswerRun
from grader.course.answers import read_answer
from grader.course.layout import find_course
from grader.course.load import find_exercises, load_course
from grader.grading.outcomes import has_lost_points
from grader.grading.plan import RunPlan, Work
from grader.grading.runtime import Runtime
from grader.grading.schedule import schedule
from grader.model import Course, Exercise
from grader.model.messages import Setup, Start


def run(path: Path, names: list[str], options: argparse.Namespace) -> None:
    """Grade all programs under each load in turn, until each program has enough runs or the time is over."""
    course = load_course(find_course(Path.cwd()))
    exercises = [item for name in names for item in find_exercises(course, name)] or list(course.exercises)
    done = collections.Counter((row["load"], row["exercise"], row["program"], row["seed"]) for row in read(path))
    until = time.monotonic() + 60 * options.minutes
    loads = {name: programs for name, programs in far_loads().items() if options.load in (None, name)}
    cases = [
        case
        for exercise in exercises
        for case in cases_of(exercise, options.seeds)
        if options.kind in (None, case.kind)
    ]
    with Runtime(exercises, Setup(Start.FORK)) as lanes, path.open("a", encoding="utf-8") as file:
        for number in range(options.times):
            for load, programs in loads.items():
                with busy(programs):
                    for case in cases:
                        key = load, case.exercise.id, f"{case.kind} {case.answer.path.stem}", case.seed
                        if done[key] > number or time.monotonic() > until:
                            continue
                        row = dict(zip(("load", "exercise", "program", "seed"), key, strict=True))
                        result = graded(course, case, lanes, once_lost=options.kind == "wrong")
                        file.write(json.dumps(row | result) + "\n")
                        file.flush()
            print(f"round {number + 1} of {options.times}", flush=True)


def cases_of(exercise: Exercise, seeds: int) -> Iterator[AnswerRun]:
    """Yield every program of an exercise with every seed."""
    files = {"starter": [exercise.starter], "reference": [exercise.reference] if exercise.reference else []}
    files |= {"right": list(exercise.right), "wrong": list(exercise.wrong)}
    for seed in range(seeds):
        for kind, paths in files.items():
            yield from (AnswerRun(exercise, kind, read_answer(exercise, path), seed) for path in paths)


def graded(course: Course, case: AnswerRun, lanes: Runtime, *, once_lost: bool = False) -> dict[str, Any]:
    """Grade a case, and return its score and the checks that lose points; with `once_lost` stop at the first loss."""
    setup = Setup(Start.FORK, seed=case.seed)
    plan = RunPlan(course, [case.exercise], setup, runs_untouched=True, stops=once_lost)
    started = time.monotonic()
    works = [Work(plan, case.exercise, case.submission())]
    again = False
    for finished in schedule(works, lanes):
        found = finished.graded
        again |= not finished.final
        if once_lost and has_lost_points(found):
            break  # whoever lost points does not have full marks, even if a repeat shows another score
    lost = {row.check.id: row.outcome.verdict.value for row in found.checks if row.score.earned < row.score.possible}
    return {
        "earned": found.score.earned,
        "undecided": found.score.undecided,
        "lost": lost,
        "again": again,
        "seconds": round(time.monotonic() - started, 2),
        "loadavg": round(os.getloadavg()[0], 1),
    }


def table(path: Path) -> None:
    """Print a Markdown table of the runs, and each run whose score is not the usual one of its program."""
    rows = read(path)
    usual = {
        key: collections.Counter(map(score, group)).most_common(1)[0][0] for key, group in by_program(rows).items()
    }
    odd = [row for row in rows if score(row) != usual[program(row)]]
    print("| exercise | load | programs | runs | other scores | undecided | again |")
    print("|---|---|---|---|---|---|---|")
    cells = collections.defaultdict(list)
    for row in rows:
        cells[row["exercise"], row["load"]].append(row)
    for (exercise, load), group in cells.items():
        names = len({row["program"] for row in group})
        counts = [sum(row in odd for row in group), sum(row["undecided"] > 0 for row in group)]
        again = sum(row["again"] for row in group)
        print(f"| {exercise} | {load} | {names} | {len(group)} | {counts[0]} | {counts[1]} | {again} |")
    print(f"\n{len(rows)} runs, {len(odd)} with another score, {os.cpu_count()} cores")
    wrong = [row for row in rows if row["program"].startswith("wrong ")]
    passed = [row for row in wrong if not row["lost"]]
    print(f"{len(wrong)} runs of wrong answers, {len(passed)} with full marks")
    for row in odd + passed:
        print(f"{row['exercise']} {row['program']} seed {row['seed']}, {row['load']}: {score(row)} {row['lost']}")


def by_program(rows: list[dict[str, Any]]) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
    found = collections.defaultdict(list)
    for row in rows:
        found[program(row)].append(row)
    return found


def program(row: dict[str, Any]) -> tuple[str, str, int]:
    return row["exercise"], row["program"], row["seed"]


def score(row: dict[str, Any]) -> tuple[int, int]:
    return row["earned"], row["undecided"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("file", type=Path)
    parser.add_argument("exercises", nargs="*")
    parser.add_argument("--times", type=int, default=10, help="for each program, seed and load")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--kind", choices=["starter", "reference", "right", "wrong"], help="only these programs")
    parser.add_argument("--load", choices=list(far_loads()), help="only this load")
    parser.add_argument("--minutes", type=float, default=1e6, help="then no further run is begun")
    options = parser.parse_args()
    if options.what == "run":
        run(options.file, options.exercises, options)
    table(options.file)


if __name__ == "__main__":
    main()
