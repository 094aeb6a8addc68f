"""How many workers a class takes: for answers that are right, wrong, and that end their process.

The course is that of `short_checks.py`: five exercises with four checks each, without known wrong answers. One lane
grades each kind of answer to each exercise, with everything that `grade batch` does for it: the repeats, the lines to
try, the comparison with known mistakes.

    python benchmarks/workers.py

Prints for each kind the workers of an answer, over all exercises the least and the most.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click
import short_checks

from grader.course.load import load_course
from grader.grading.diagnosis import KnownMistakes
from grader.grading.lanes import grade_exercise, setup_of
from grader.grading.outcomes import WorkResult
from grader.grading.plan import RunPlan, Work
from grader.grading.runtime import Runtime
from grader.grading.schedule import grade_submission
from grader.model import Submission
from grader.model.progress import Progress
from grader.model.report import ExerciseFiles
from grader.runner.lane import JobResult, Lane

CRASHES = "import os\n\n\ndef {name}(*args):\n    os._exit(3)\n"


@dataclass
class Counting:
    """A lane, as an engine that grades at once and counts the workers of all that it runs."""

    lane: Lane
    known: KnownMistakes
    slots: int = 1
    workers: int = 0
    progress: Progress = field(default_factory=Progress)
    _run: Any = field(init=False)

    def __post_init__(self) -> None:
        self._run = self.lane.run
        self.lane.run = self.run  # type: ignore[method-assign]

    def run(self, *args: Any, **kwargs: Any) -> JobResult:
        """Run a job in the lane, and add the number of its workers to the count."""
        run: JobResult = self._run(*args, **kwargs)
        self.workers += run.workers
        return run

    def submit(self, work: Work) -> Future[WorkResult]:
        """Grade a work at once, and return a future that is done."""
        future: Future[WorkResult] = Future()
        future.set_result(grade_exercise(work, self.lane, self.known))
        return future


@click.command(help=__doc__)
def main() -> None:
    """Print how many workers are started for a right, a wrong and a crashing answer."""
    kinds: dict[str, Callable[[short_checks.Task], str]] = {
        "right": lambda task: short_checks.module(task, wrong=False),
        "wrong": lambda task: short_checks.module(task, wrong=True),
        "crashing": lambda task: CRASHES.format(name=task.name),
    }
    with tempfile.TemporaryDirectory(prefix="workers-") as folder:
        short_checks.make_course(Path(folder))
        course, setup = load_course(Path(folder)), replace(setup_of(), seed=7)
        exercises = {exercise.id: exercise for exercise in course.exercises}
        plan = RunPlan(course, course.exercises, setup)
        with Runtime(course.exercises, setup) as runtime, closing(runtime.open_lane()) as lane:
            engine = Counting(lane, KnownMistakes(setup))
            for kind, text in kinds.items():
                counts = []
                for task in short_checks.TASKS:
                    exercise, engine.workers = exercises[task.name], 0
                    files = ExerciseFiles({exercise.file_name: text(task).encode()}, Path("nowhere.py"))
                    submission = Submission(f"{kind} {task.name}", {exercise.id: files})
                    grade_submission(replace(plan, exercises=[exercise]), submission, engine)
                    counts.append(engine.workers)
                print(f"{kind:10} {min(counts)} to {max(counts)} workers for an answer")


if __name__ == "__main__":
    main()
