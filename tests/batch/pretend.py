"""A batch in a pretend lane: no process is started, and what a check says hangs on the file alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from support import not_needed

from grader.batch.results_folder import ResultsFolder
from grader.batch.run import BatchOptions, OpenExecutor, Summary, grade_batch
from grader.grading.plan import RunPlan
from grader.grading.runtime import Processes, Runtime
from grader.intake.collect import open_intake
from grader.model import Check, Course, Exercise, Outcome, Report, Verdict
from grader.model.messages import ALL, CheckSelection, Collected, Level, Setup, Start
from grader.model.progress import Cancel, Progress
from grader.runner.lane import JobResult
from grader.runner.worker_source import WorkerSource

Judge = Callable[[str, str, bytes], Verdict]
"""Exercise, check and file → verdict."""


def by_words(exercise: str, check: str, source: bytes) -> Verdict:
    """The verdict of a check is what the file says: `passed`, or any other."""
    del exercise, check
    words = source.decode().split()
    return Verdict(words[0]) if words else Verdict.FAILED


class Told(Progress):
    """Keeps whose reports were new, and says so to the batch that is pretended."""

    def __init__(self, pretend: PretendClass) -> None:
        self._pretend = pretend

    def reported(self, report: Report, number: int, total: int) -> None:
        del number, total
        self._pretend.told.append(report.author)
        self._pretend.on_told()


class PretendLane:
    """Runs nothing.

    Attributes:
        jobs: exercise and file of each run that grades.
        compared: the same of runs that compare with known mistakes.
    """

    reached = type("ReachedLevel", (), {"level": Level.FULL})

    def __init__(self, exercises: Sequence[Exercise], judge: Judge = by_words, seconds: float = 0) -> None:
        self.progress, self.cancel = Progress(), Cancel()
        self.jobs: list[str] = []
        self.compared: list[str] = []
        self._judge = judge
        self._seconds = seconds
        checks = [
            Check(f"{exercise.id}_{n}", exercise.id, "t", "C1", shown=False) for exercise in exercises for n in range(2)
        ]
        self.collected = Collected(tuple(checks), {}, 1)

    def close(self) -> None:
        pass

    def checks_of(self, exercise: Exercise) -> list[Check]:
        return [check for check in self.collected.checks if check.exercise == exercise.id]

    def run(
        self,
        exercise: Exercise,
        files: Mapping[str, bytes],
        seed: int,
        folder: str = "",
        selection: CheckSelection = ALL,
        **rest: Any,
    ) -> JobResult:
        del seed, folder, rest
        time.sleep(self._seconds)
        source = files[exercise.file_name]
        (self.jobs if selection.with_tries else self.compared).append(f"{exercise.id} {source.decode().strip()}")
        wanted = [check.id for check in self.checks_of(exercise) if selection.has(check.id)]
        return JobResult([Outcome(id, self._judge(exercise.id, id, source), detail="for staff") for id in wanted], "")


def dask_setup(worker: object) -> None:
    """Dask calls this in each process of a cluster that loads this file: its lanes are pretended ones then."""
    del worker
    lane: Any = lambda exercises, *rest: PretendLane(exercises, seconds=0.05)  # noqa: E731
    mock.patch.object(Runtime, "processes", Processes(not_needed, lambda *_: WorkerSource(), lane)).start()


class PretendClass:
    """A class in a folder, graded in a pretend lane.

    Args:
        course: the course.
        root: a folder for it all.
    """

    def __init__(self, course: Course, root: Path) -> None:
        self.course = course
        self.folder, self.out = root / "in", root / "out"
        self.judge: Judge = by_words
        self.jobs: list[str] = []
        self.compared: list[str] = []
        self.told: list[str] = []
        self.on_told: Callable[[], object] = lambda: None
        self.problems: dict[str, str] = {}

    @classmethod
    def of(cls, course: Course, root: Path, authors: int, verdicts: Sequence[str]) -> PretendClass:
        """A class of so many; another one of the same size is like it, its secret as well."""
        made = cls(course, root)
        for place in range(authors):
            double, total = (verdicts[number % len(verdicts)] for number in (place, place // 2))
            made.hand_in(f"author{place:02}", double=double, total=total)
        made.out.mkdir()
        (made.out / "seed").write_text(f"{bytes(32).hex()}\n")
        return made

    def hand_in(self, author: str, **files: str) -> None:
        for exercise, text in files.items():
            path = self.folder / author / f"{exercise}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text} {author}\n", encoding="utf-8", errors="replace")

    def grade(
        self,
        exercises: Sequence[Exercise] = (),
        seconds: float = 0,
        slots: int = 1,
        executor: OpenExecutor | None = None,
        handin: str | None = None,
        **order: Any,
    ) -> Summary:
        """Grade; `jobs` and `compared` then have what was run here, and `told` whose reports were new."""
        setup = Setup(Start.FORK, least=Level.FULL)
        plan = RunPlan(self.course, exercises or self.course.exercises, setup, handin)
        self.jobs, self.compared, self.told = [], [], []

        def pretended(exercises: Sequence[Exercise], *args: Any) -> Any:
            lane = PretendLane(exercises, lambda *asked: self.judge(*asked), seconds)
            lane.jobs, lane.compared = self.jobs, self.compared
            lane.collected = replace(lane.collected, problems=self.problems)
            return lane

        with (
            mock.patch.object(Runtime, "processes", Processes(not_needed, lambda *_: WorkerSource(), pretended)),
            open_intake(self.folder, self.course.exercises, out=self.out) as intake,
        ):
            order_ = BatchOptions(**order)
            return grade_batch(
                plan, intake, ResultsFolder.make(self.out), order_, Told(self), slots=slots, executor=executor
            )

    def rows(self) -> dict[str, str]:
        """The gradebook's lines, by author."""
        lines = (self.out / "gradebook.csv").read_text().splitlines()[1:]
        return {line.split(",")[0]: line.split(",", 1)[1] for line in lines}
