"""The plugin of the one pytest session: checks are collected once and run again for each submission.

The host says which exercises there are, then sends one job for each exercise of each submission.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.check.declare import Accelerator
from grader.check_process import features
from grader.check_process.all_calls import AllCalls
from grader.check_process.checks import CheckFile, CollectedCheck
from grader.check_process.connections import Connections
from grader.check_process.fixtures import Fixtures
from grader.check_process.host import Host
from grader.check_process.judge import Judge, Verdicts
from grader.check_process.lines_to_try import Reproducer, run_typed_lines
from grader.check_process.run_check import CheckRunner, PlannedRun
from grader.check_process.trace import run_traced
from grader.connection.connection import Connection
from grader.lint.lines import findings
from grader.model import Check, DeviceKind, Outcome, Verdict
from grader.model.messages import Collected, Done, Job, Message, Plan, PlannedExercise
from grader.wire.frames import Budget
from grader.worker_process.waiting import MAX_RECEIVED, Waiting

_NO_CUDA = "needs a CUDA device; grade --device cuda uses one"


class CheckSession:
    """The pytest plugin that collects checks and runs jobs.

    Args:
        host: the host, which sends jobs and receives outcomes.
        plan: the plan, with the exercises whose checks are collected.
        connections: the connections to students and references.
        accelerator: the accelerator on which checks of devices run.

    Attributes:
        fixtures: the plugin that gives checks their fixtures.
        ended_by: the message that came from the host in place of another job; None if the host closed the channel.
    """

    def __init__(self, host: Host, plan: Plan, connections: Connections, accelerator: Accelerator) -> None:
        self._host = host
        self._connections = connections
        self._accelerator = accelerator
        self._planned = {exercise.id: exercise for exercise in plan.exercises}
        self._sources = {path: exercise for exercise in plan.exercises for path in _check_files(exercise)}
        self._on_the_way = {*self._sources, *(folder for path in self._sources for folder in path.parents)}
        self._checks: dict[str, list[CollectedCheck]] = {id: [] for id in self._planned}
        self._problems: dict[str, str] = {}
        self._verdicts: Verdicts = {}
        self._reproducer = Reproducer()
        self._all_calls = AllCalls(connections)
        self.fixtures = Fixtures(plan.root, accelerator)
        self._runner = CheckRunner(connections, self.fixtures)
        self.ended_by: Message | None = None

    @property
    def waiting(self) -> Waiting:
        """The object that counts how long this process waits for workers."""
        return self._connections.waiting

    # -- collecting -----------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool:
        """Return True for a path that does not lead to a check file.

        pytest does not collect such a path.
        """
        return collection_path not in self._on_the_way

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record that a check file cannot be collected.

        Its exercise cannot be graded; other exercises can.
        """
        for path, exercise in self._sources.items():
            if report.nodeid and str(path).endswith(report.nodeid):
                if report.failed:
                    self._problems[exercise.id] = str(report.longrepr)
                elif report.skipped:  # its checks are not there, and nobody would miss them
                    self._problems[exercise.id] = f"{path.name} skips itself when it is read: {report.longreprtext}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Sort the checks by exercise, shown ones first, and send them to the host."""
        files: dict[Path, CheckFile] = {}
        for item in session.items:
            assert isinstance(item, pytest.Function)
            exercise = self._sources[item.path]
            if item.path not in files:
                files[item.path] = CheckFile(item.path, item.module, exercise)
            self._record_problem(exercise, item.path, features.unsupported_feature_of_item(item))
            row = CollectedCheck.of(item, files[item.path], shown=item.path == exercise.shown_checks)
            self._checks[exercise.id].append(row)
            if exercise.without and row.check.device is not DeviceKind.NONE:
                self._problems[exercise.id] = (
                    f"{item.path.name}: {item.name} has a device, which needs PyTorch, and `without` in exercise.yaml "
                    "takes PyTorch away; remove one of the two"
                )
        for path, exercise in self._sources.items():
            if exercise.id not in self._problems:
                self._record_problem(exercise, path, features.unsupported_feature_of_file(path))
        # Shown ones first: what a student prints is kept up to the first hidden input, and no further.
        for rows in self._checks.values():
            rows.sort(key=lambda row: not row.check.shown)
        self.send_checks()

    def _record_problem(self, exercise: PlannedExercise, path: Path, problem: str) -> None:
        """Record the problem of a check file as that of its exercise.

        Do nothing if `problem` is "", or if the exercise already has a problem.
        """
        if problem:
            self._problems.setdefault(exercise.id, f"{path.name}: {problem}")

    def send_checks(self) -> None:
        """Test that workers can be used, and send the collected checks to the host.

        The host waits for them.
        """
        # Before any work is given out, and after pytest was prepared: meanwhile the worker server imports torch, too.
        for without_torch in {bool(exercise.without) for exercise in self._planned.values()} or {False}:
            self._connections.self_test(without_torch=without_torch)
        checks = tuple(row.check for rows in self._checks.values() for row in rows)
        self._host.send(Collected(checks, self._problems, self._accelerator.count, tuple(self._findings())))

    def _findings(self) -> Iterator[str]:
        """Yield the linter's findings in check files, with path and line.

        Check files of an exercise without a reference are left out.
        """
        for path, exercise in self._sources.items():
            if exercise.lints and exercise.reference is not None and exercise.id not in self._problems:
                known = exercise.reference.read_text(encoding="utf-8", errors="replace")
                for finding in findings(path.read_text(encoding="utf-8", errors="replace"), known):
                    yield f"{path}:{finding.line}: {finding}"

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the jobs of the host, in place of pytest's loop over the collected items."""
        session.testsfailed = 0  # collection errors are reported, and stop nothing
        self.run_jobs()
        return True

    # -- running --------------------------------------------------------------------------------------------------

    def run_jobs(self) -> None:
        """Receive jobs from the host, and run them until it sends another message.

        Stop as well if the host closes the channel.
        """
        # What was imported and collected stays: no later collection need go over it.
        gc.collect()
        gc.freeze()
        self._runner.note_failing_asserts()
        while isinstance(message := self._host.receive(), Job):
            self._run_job(message)
        self.ended_by = message

    def _run_job(self, job: Job) -> None:
        """Run the selected checks of a job, and send each outcome to the host.

        Send what was printed and the counts at the end.
        """
        planned = self._planned[job.exercise]
        selection = job.selection
        rows = [row for row in self._checks[job.exercise] if selection.has(row.check.id)]
        self.waiting.no_core_s, before = None, self._connections.started_count
        try:
            for number, row in enumerate(rows):
                check = row.check
                if not self._has_device(check):
                    self._host.send(Outcome(check.id, Verdict.NOT_RUN, _NO_CUDA))
                    continue
                # pytest tears fixtures down by what comes next, so it learns which check will really run next.
                later = [] if selection.stops else rows[number + 1 :]
                following = (other.item for other in later if self._has_device(other.check))
                # The last moment at which no hidden input is known to the worker; what is printed from here on is not
                # kept.
                if not check.shown:
                    self._connections.read_output_until_now()
                on_cuda = self._accelerator.type is DeviceKind.CUDA and check.device is not DeviceKind.NONE
                device = DeviceKind.CUDA if on_cuda else check.device
                student = self._connections.connection_to_student(planned, job, device)
                self._host.send(outcome := self._run_check(row, next(following, None), job, student))
                if selection.stops and outcome.verdict.is_lost:
                    break
        finally:
            # Also if the job ends by an error of ours: the next author must not meet this one's workers.
            self._reproducer.close()
            printed = self._connections.end_job(planned.limits.shown_output_kb * 1024)
            self.waiting.begin_check(Budget(MAX_RECEIVED))
        self._host.send(Done(printed, self.waiting.no_core_s, self._connections.started_count - before))

    def _has_device(self, check: Check) -> bool:
        return check.device is not DeviceKind.CUDA or self._accelerator.type is DeviceKind.CUDA

    def _run_check(self, row: CollectedCheck, following: pytest.Item | None, job: Job, student: Connection) -> Outcome:
        """Run one check in the way that the job selects, and return its outcome.

        A check is judged, unless the job selects another way: tracing it, running lines in its place, or digests of all
        calls.
        """
        check, selection = row.check, job.selection
        planned = PlannedRun(self._runner, row, following, job)
        if check.id in selection.traced:
            return run_traced(planned, student, selection.traced[check.id])
        if check.id in selection.typed:
            return run_typed_lines(check, student, selection.typed[check.id])
        if selection.compares:
            return self._all_calls.run(planned, student)
        started = time.monotonic()
        outcome = Judge(planned, student, self._connections, self._verdicts).judge()
        # Only a diagnosis asks whether something was drawn.
        examined = outcome.verdict is not Verdict.PASSED or selection.again
        # A deadlock costs its whole wait once: with other inputs it would be waited for again.
        hangs = not student.deadlocked.isdisjoint(outcome.called)
        same = examined and (hangs or not self._runner.drew_random_numbers(row))
        outcome = replace(outcome, seconds=round(time.monotonic() - started, 4), same_for_all=same)
        return self._reproducer.add_lines_to_try(outcome, planned, student) if selection.with_tries else outcome


def _check_files(exercise: PlannedExercise) -> list[Path]:
    return [path for path in (exercise.shown_checks, exercise.hidden_checks) if path is not None]
