"""A class graded again from its page, as `grade batch` does it: in a thread, with progress, one at a time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.batch.results_folder import ResultsFolder
from grader.batch.run import BatchOptions, grade_batch
from grader.batch.run_text import run_sentences
from grader.grading.lanes import lanes_here
from grader.grading.plan import RunPlan
from grader.intake.collect import open_intake
from grader.model import Course, Report
from grader.model.messages import Setup
from grader.model.progress import Cancelled, Progress
from grader.model.score import points_text
from grader.web.long_work import record_end
from grader.web.page_words import in_page_words


@dataclass
class Regrade(Progress):
    """The run of `grade batch` that was started from a page, if there is one.

    Attributes:
        out: the folder of results.
        setup: the set-up of the run.
        folder: the folder with the submissions of the last run.
        is_running: True if the run goes on.
        done: the number of graded submissions.
        total: the number of submissions.
        lines: the scores of the last submissions, and sentences of the run.
        problem: a sentence on why it ended, or "".
    """

    out: Path
    setup: Setup
    folder: str = ""
    is_running: bool = False
    done: int = 0
    total: int = 0
    lines: list[str] = field(default_factory=list)
    problem: str = ""
    _stops: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def begin(self, course: Course, handin: str | None, options: BatchOptions) -> None:
        """Start a run of `grade batch` in a thread, unless one is running.

        Args:
            course: the course of the class.
            handin: the id of the hand-in that is graded; None to grade all exercises of the course.
            options: the options of the run, with the folder of submissions.
        """
        if self.is_running:
            return
        self.folder, self.is_running, self.done, self.total = options.submissions, True, 0, 0
        self.lines, self.problem = [], ""
        self._stops.clear()
        self._thread = threading.Thread(target=self._run, args=(course, handin, options))
        self._thread.start()

    def stop(self) -> None:
        """Stop the run, as Ctrl-C does, without waiting for its end; the results so far are saved."""
        self._stops.set()

    def close(self) -> None:
        """Stop the run, and wait until its processes have ended."""
        self.stop()
        if self._thread is not None:
            self._thread.join()

    def why_busy(self) -> str:
        """Return a sentence that says that the class is being graded; "" if no run is going on."""
        return "This class is being graded again; what you see is the state before." if self.is_running else ""

    # -- progress

    def still_waiting(self) -> None:
        """Raise `Cancelled` if the run was stopped."""
        if self._stops.is_set():
            raise Cancelled

    def advanced(self, done: int, total: int) -> None:
        """Record how many submissions are graded; raise `Cancelled` if the run was stopped."""
        self.done, self.total = done, total
        self.still_waiting()

    def reported(self, report: Report, number: int, total: int) -> None:
        """Record the score of a submission that was graded, as a line "s123: 7.5 / 10".

        Args:
            report: the report of the submission.
            number: the number of submissions reported so far, this one included.
            total: the number of submissions.
        """
        score = report.final_score
        self.lines.append(f"{report.author}: {points_text(score.earned)} / {points_text(score.possible)}")
        self.done, self.total = max(self.done, number), total

    def noted(self, line: str) -> None:
        """Record a sentence that the run reports."""
        self.lines.append(in_page_words(line))

    # -- the thread

    def _run(self, course: Course, handin: str | None, options: BatchOptions) -> None:
        stopped = "Stopped. What was graded is saved; the next run goes on from there."
        failed = "The run ended by a fault of ours; the terminal says more."
        with record_end(self, stopped=stopped, failed=failed):
            self.lines += self._grade_class(course, handin, options)

    def _grade_class(self, course: Course, handin: str | None, options: BatchOptions) -> Sequence[str]:
        chosen = course.handin(handin)
        exercises = [one for one in course.exercises if chosen is None or one.id in chosen.exercises]
        plan = RunPlan(course, exercises, self.setup, handin=handin)
        with open_intake(Path(options.submissions), course.exercises, options.layout, self.out) as intake:
            results = ResultsFolder.make(self.out)
            summary = grade_batch(plan, intake, results, options, self, slots=lanes_here())
        return [in_page_words(line) for line in run_sentences(summary, options, results)]
