"""A checkout graded: every file is written anew while checks end, so that a time-out keeps what was earned."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from grader.grading.known import Known
from grader.grading.lanes import open_lanes
from grader.grading.outcomes import graded_so_far
from grader.grading.plan import RunPlan
from grader.grading.submission import grade_submission, report_of
from grader.grading.work import Finished, Result, Work
from grader.model import Check, Exercise, GradedExercise, Outcome, Report, Submission
from grader.model.errors import CourseError
from grader.report.export.checked import Options
from grader.report.export.formats import write_format
from grader.report.schema import ReportFile, write_report

Formats = Sequence[tuple[str, str]]
"""Names of formats, each with its file or `-`."""

_REST = 4
"""So many times as long as a write took, none begins: a report of many exercises is not written all the time."""


class LatestWriter:
    """Writes the latest report of those that it is told, beside the grading, and soon even if none follows it.

    Args:
        write: told a report.
    """

    def __init__(self, write: Callable[[Report], None]) -> None:
        self._write = write
        self._turn = threading.Condition()
        self._latest: Callable[[], Report] | None = None
        self._error: Exception | None = None
        self._ended = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def tell(self, latest: Callable[[], Report]) -> None:
        """Have a report written, which is made only if it is.

        Raises:
            Exception: what an earlier write raised.
        """
        with self._turn:
            if self._error is not None:
                raise self._error
            self._latest = latest
            self._turn.notify()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what is not written yet, without a rest."""
        with self._turn:
            self._ended = True
            self._turn.notify()
        self._thread.join()

    def _run(self) -> None:
        rest = 0.0
        while True:
            with self._turn:
                self._turn.wait_for(lambda: self._ended, rest)
                self._turn.wait_for(lambda: self._ended or self._latest is not None)
                latest, self._latest = self._latest, None
            if latest is None:
                return
            began = time.monotonic()
            try:
                self._write(latest())
            # It is raised where the next report is told, or by the write that follows the grading.
            except Exception as error:
                self._error = error
                return
            rest = _REST * (time.monotonic() - began)


def grade_checkout(
    plan: RunPlan,
    submission: Submission,
    write: Callable[[Report], None],
    on_exercise: Callable[[GradedExercise], None],
) -> Report:
    """Grade a submission while nothing else of ours runs.

    Args:
        plan: what is graded.
        submission: the checkout.
        write: receives the report so far before anything ran, and then, in a thread of its own, the latest one.
        on_exercise: receives each exercise of which checks were run.

    Raises:
        StartError: a process of ours did not start.
        ConfinementError: student code cannot be confined as well as the set-up requires.
    """
    done: list[Finished] = []
    heard: defaultdict[str, dict[str, Outcome]] = defaultdict(dict)  # of each exercise, its checks' last outcomes
    works = {exercise.id: Work(plan, exercise, submission) for exercise in plan.exercises}
    hidden = (submission.root,) if submission.root else ()
    write(report_of(plan, submission, done))  # a place that cannot be written is reported before all else
    known = Known(plan.setup)
    with (
        open_lanes(plan.to_run(submission), plan.setup, hidden=hidden, known=known) as lanes,
        LatestWriter(write) as writer,
    ):

        def on_finished(one: Finished) -> None:
            done.append(one)
            if one.graded.checks:
                on_exercise(one.graded)
            rows = list(done)
            writer.tell(lambda: report_of(plan, submission, rows))

        def hear(exercise: Exercise, outcome: Outcome, checks: Sequence[Check]) -> None:
            heard[exercise.id][outcome.check] = outcome
            graded = graded_so_far(exercise, submission, checks, list(heard[exercise.id].values()))
            rows = [*done, Finished(works[exercise.id], Result(graded), final=False)]
            writer.tell(lambda: report_of(plan, submission, rows))

        lanes.hear = hear
        return grade_submission(plan, submission, lanes, on_finished=on_finished)


def write_files(report: Report, json_path: str | None, formats: Formats, options: Options, *, staff: bool) -> None:
    """Write the JSON and every format that goes into a file.

    Raises:
        GraderError: the platform would refuse a file, or tells too little of what is graded.
        CourseError: no file can be written there.
    """
    if json_path is not None:
        try:
            write_report(Path(json_path), report, staff=staff)
        except OSError as error:
            raise CourseError(f"--json: no file can be written at {json_path} ({error.strerror})") from None
    read = ReportFile.of(report)
    for name, place in formats:
        if place != "-":
            write_format(name, place, read, options)
