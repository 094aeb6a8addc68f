"""A checkout graded: every file is written anew while checks end, so that a time-out keeps what was earned."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import Self

from grader.grading.diagnose import explainer
from grader.grading.grade import Sheet, grade_at_once, report_so_far
from grader.grading.graded import graded_so_far
from grader.grading.known import Known
from grader.model import Exercise, GradedExercise, Outcome, Report, Submission
from grader.model.errors import CourseError
from grader.report.export.formats import write_format
from grader.report.export.items import Options
from grader.report.schema import ReportFile, write_report
from grader.runner.open import open_lane

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
    sheet: Sheet, submission: Submission, write: Callable[[Report], None], on_exercise: Callable[[GradedExercise], None]
) -> Report:
    """Grade a submission while nothing else of ours runs.

    Args:
        sheet: what is to be graded.
        submission: the checkout.
        write: told the report so far before anything ran, and then, in a thread of its own, the latest that there is.
        on_exercise: told each exercise.

    Raises:
        StartError: a process of ours did not start.
        ConfinementError: student code cannot be confined as well as is asked for.
    """
    done: list[GradedExercise] = []
    heard: defaultdict[str, dict[str, Outcome]] = defaultdict(dict)  # of each exercise, its checks' last outcomes
    known = Known(sheet.setup)
    to_run = sheet.to_run(submission)
    hidden = (submission.root,) if submission.root else ()
    write(report_so_far(sheet, submission, None, done))  # a place that cannot be written is told before all else
    opened = open_lane(to_run, sheet.setup, hidden=hidden) if to_run else nullcontext()
    with opened as lane, LatestWriter(write) as writer:

        def tell_with(*running: GradedExercise) -> None:
            rows = [*done, *running]
            writer.tell(lambda: report_so_far(sheet, submission, lane, rows))

        def on_graded(graded: GradedExercise) -> None:
            done.append(graded)
            on_exercise(graded)
            tell_with()

        def on_check(exercise: Exercise, outcome: Outcome) -> None:
            assert lane is not None
            heard[exercise.id][outcome.check] = outcome
            outcomes = list(heard[exercise.id].values())
            tell_with(graded_so_far(exercise, submission, lane.checks_of(exercise), outcomes))

        explain = explainer(submission, sheet.setup, lane, known)
        return grade_at_once(sheet, submission, lane, explain=explain, on_exercise=on_graded, on_check=on_check)


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
