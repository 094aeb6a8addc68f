"""The plugin of the one pytest session: checks are collected once and run again for each submission; their fixtures.

The host says which exercises there are, then sends one job for each exercise of each submission.
"""

from __future__ import annotations

import gc
import math
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from _pytest.assertion import util

from grader.check.declare import Accelerator, Rng
from grader.connection import record
from grader.connection.connection import Connection
from grader.connection.record import Record, waiting
from grader.connection.student import Probe, Student
from grader.lint import findings
from grader.model import Check, Device, Outcome, Verdict
from grader.model.endings import CheckTimeout
from grader.model.messages import Collected, Done, Job, PlannedExercise
from grader.session.checks import CollectedCheck, InputStream, Values, collected_check
from grader.session.connections import Connections
from grader.session.decide import Comparison, Telling, cause_of, decide, ended_of
from grader.session.host import Host
from grader.session.judge import Judge, Run, Verdicts
from grader.session.picturing import picture_of
from grader.session.reproduce import Tries, remade
from grader.session.tracing import traced
from grader.session.words import Words

_SHORTEST_S = 0.001
_NO_CUDA = "needs a CUDA device; grade --device cuda uses one"


class CheckSession:
    """The pytest plugin: collects, runs the jobs, gives checks their fixtures, turns endings into outcomes.

    Args:
        host: who gives work and learns of outcomes.
        planned: all exercises.
        connections: meets the students and the references.
        accelerator: what checks of devices run on.
        root: a private folder, for the folders of checks.
    """

    def __init__(
        self,
        host: Host,
        planned: Sequence[PlannedExercise],
        connections: Connections,
        accelerator: Accelerator,
        root: Path,
    ) -> None:
        self._host = host
        self._planned = {item.id: item for item in planned}
        self._sources = {
            path: (item.id, shown)
            for item in planned
            for path, shown in ((item.shown_checks, True), (item.hidden_checks, False))
            if path is not None
        }
        self._accelerator = accelerator
        self._root = root
        self._checks: dict[str, list[CollectedCheck]] = {item.id: [] for item in planned}
        self._problems: dict[str, str] = {}
        self._connections = connections
        self._student: Connection
        self._exercise: PlannedExercise
        self._inputs: InputStream
        self._excinfo: pytest.ExceptionInfo[BaseException] | None = None
        self._comparison: Comparison | None = None
        self._words: dict[Path, Words] = {}
        self._values: dict[Path, Values] = {}
        self._verdicts: Verdicts = {}
        self._tries = Tries()
        self._timer = Timer()

    # -- collecting -----------------------------------------------------------------------------------------------

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a check file that cannot be collected; its exercise is broken, the others are not."""
        for path, (id, _) in self._sources.items():
            if report.failed and report.nodeid and str(path).endswith(report.nodeid):
                self._problems[id] = str(report.longrepr)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Sort the checks by exercise, shown ones first, and send them to the host."""
        for item in session.items:
            assert isinstance(item, pytest.Function)
            id, shown = self._sources[item.path]
            self._checks[id].append(collected_check(item, id, shown=shown))
            self._values.setdefault(item.path, Values(item.module)).keep(item)
        # Shown ones first: what a student prints is kept up to the first hidden input, and no further.
        for rows in self._checks.values():
            rows.sort(key=lambda row: not row.check.shown)
        self.tell_checks()

    def tell_checks(self) -> None:
        """Tell the host which checks there are; it waits for that."""
        # Before any work is given out, and after pytest was prepared: meanwhile the worker server imports torch, too.
        self._connections.self_test()
        checks = tuple(row.check for rows in self._checks.values() for row in rows)
        self._host.tell(Collected(checks, self._problems, self._accelerator.count, tuple(self._findings())))

    def _findings(self) -> Iterator[str]:
        """What reading the check files shows, where there is somebody who can change them."""
        for path, (id, _) in self._sources.items():
            if self._planned[id].reference is not None and id not in self._problems:
                for finding in findings(path.read_text(encoding="utf-8", errors="replace")):
                    yield f"{path}:{finding.line}: {finding}"

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run jobs instead of one pass over the items."""
        session.testsfailed = 0  # collection errors are reported, and stop nothing
        self.run_jobs()
        return True

    # -- running --------------------------------------------------------------------------------------------------

    def run_jobs(self) -> None:
        """Grade until the host has no more work."""
        # What was imported and collected stays: no later collection need go over it.
        gc.collect()
        gc.freeze()
        util._reprcompare = self._note_comparison
        while (job := self._host.next_job()) is not None:
            self._run_job(job)

    def _run_job(self, job: Job) -> None:
        planned = self._exercise = self._planned[job.exercise]
        part = job.part
        rows = [row for row in self._checks[job.exercise] if part.has(row.check.id)]
        waiting.no_core_s = None
        try:
            for number, row in enumerate(rows):
                check = row.check
                if not self._has_device(check):
                    self._host.tell(Outcome(check.id, Verdict.NOT_RUN, _NO_CUDA))
                    continue
                # pytest tears fixtures down by what comes next, so it learns which check will really run next.
                later = [] if part.stops else rows[number + 1 :]
                following = (other.item for other in later if self._has_device(other.check))
                # The last moment at which no hidden input is known to the worker; what is printed from here on is not
                # kept.
                if not check.shown:
                    self._connections.end_output()
                device = Device.NONE if check.device is Device.NONE else self._accelerator.type
                self._student = self._connections.meet(planned, job, device)
                self._host.tell(outcome := self._run_check(row, next(following, None), job, self._student))
                self._connections.note_output()
                if part.stops and outcome.verdict.decided and outcome.verdict is not Verdict.PASSED:
                    break
        finally:
            # Also if the job ends by an error of ours: the next author must not meet this one's workers.
            self._tries.close()
            printed = self._connections.part(planned.limits.shown_output_kb * 1024)
            record.begin(Record())
        self._host.tell(Done(printed, waiting.no_core_s))

    def _has_device(self, check: Check) -> bool:
        return check.device is not Device.CUDA or self._accelerator.type is Device.CUDA

    def _run_check(self, row: CollectedCheck, following: pytest.Item | None, job: Job, student: Connection) -> Outcome:
        check = row.check
        in_place = partial(self._connections.stand_in, self._exercise, student.device)
        stand_in = in_place if self._exercise.reference is not None else None
        attempt = partial(self._attempt, row, following, job, rewrite=remade if job.part.retyped else None)
        if check.id in job.part.traced:
            return traced(check, student, job.part.traced[check.id], attempt)
        started = time.monotonic()
        retyped = check.id in self._exercise.retyped
        judge = Judge(check, attempt, stand_in, self._telling(row.item), self._verdicts, job.seed, retyped)
        run = judge.judge(student)
        outcome = _outcome(check, run, student, time.monotonic() - started)
        if outcome.verdict is not Verdict.PASSED or job.part.again:  # only diagnosis asks
            drawn = "rng" in row.item.fixturenames or not self._inputs.are_others_untouched()
            outcome = replace(outcome, same_for_all=not drawn)
        return self._tries.explained(outcome, judge, student) if job.part.with_tries else outcome

    def _attempt(
        self,
        row: CollectedCheck,
        following: pytest.Item | None,
        job: Job,
        student: Connection,
        *,
        copying: bool = False,
        rewrite: Callable[..., Any] | None = None,
    ) -> Run:
        """Run a check once with this connection as the student's; its code gets copies, or the arguments themselves."""
        check, self._student = row.check, student
        self._connections.add_reference(self._exercise, student)
        self._inputs = InputStream(job.seed, check)
        self._inputs.begin_others()
        seed, limits = self._inputs.workers_seed(), self._exercise.limits
        limits = replace(limits, call_s=row.call_s) if row.call_s else limits
        mine = Record(seed, self._inputs.renew, copying, rewrite, recording=check.shown, unconfirmed=not job.part.again)
        student.begin_check(mine, limits)
        record.begin(mine)
        # The same seed: a function that draws random numbers draws the same ones in both workers.
        if student.reference is not None:
            student.reference.begin_check(Record(seed))
        self._excinfo = self._comparison = None
        # pytest runs each item once; its fixtures are made anew for every submission.
        self._values[row.item.path].renew(row.item)
        self._run_item(row.item, following)
        ended = ended_of(self._excinfo, row.item.path, self._comparison)
        decision = decide(check, ended, student, self._telling(row.item))
        cause = cause_of(check, decision.verdict, ended.error or student.record.lost)
        return Run(ended, decision, cause, picture_of(check, decision.verdict, ended.error, student.record.calls))

    def _telling(self, item: pytest.Function) -> Telling:
        if item.path not in self._words:
            paths = [item.path, *self._exercise.probes]
            self._words[item.path] = Words.of(paths, self._exercise.id, self._exercise.limits)
        return Telling(self._exercise.contract, self._words[item.path])

    def _run_item(self, item: pytest.Function, following: pytest.Item | None) -> None:
        """Set the fixtures of a check up, call it, tear them down; keep what was raised in the step that came first.

        pytest's own protocol calls thirty hooks besides. They take longer than many a check, and have nothing to do.
        """
        item._initrequest()
        state = item.session._setupstate
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._timer.start(self._exercise.limits.check_s)
            try:
                if self._goes_well(lambda: state.setup(item)):
                    self._goes_well(item.runtest)
            finally:
                self._timer.stop()
            self._goes_well(lambda: state.teardown_exact(following))

    def _goes_well(self, step: Callable[[], object]) -> bool:
        try:
            step()
        except (KeyboardInterrupt, pytest.exit.Exception):
            raise
        except BaseException:
            self._excinfo = self._excinfo or pytest.ExceptionInfo.from_current()
            return False
        return True

    def _note_comparison(self, op: str, left: object, right: object) -> str:
        """Keep both sides of a plain assert that fails; pytest calls this, and makes its message of what it gives."""
        self._comparison = Comparison(op, left, right)
        return op.replace("%", "%%")

    # -- fixtures ------------------------------------------------------------------------------------------------------

    @pytest.fixture
    def student(self) -> Student:
        """The student's module."""
        return Student(self._student)

    @pytest.fixture
    def reference(self) -> Student:
        """The reference, in a worker of its own; it is given arguments as they were before the student's call."""
        reference = self._student.reference
        if reference is None:
            pytest.skip("this copy of the course has no reference solution")
        return Student(reference)

    @pytest.fixture
    def rng(self) -> Rng:
        """A generator of this check's inputs, which only the run, the author and the check's id decide."""
        return self._inputs.rng

    @pytest.fixture
    def accelerator(self) -> Accelerator:
        """The accelerator that the worker of a check with `device="sim"` sees."""
        return self._accelerator

    @pytest.fixture
    def files(self) -> Path:
        """The folder of the exercise's files of data, which the student's code finds beside its own."""
        for name, path in self._exercise.data.items():
            return path.parents[name.count("/")]
        raise LookupError(f"{self._exercise.id} has no files of data: name them in its YAML file, under the key  files")

    @pytest.fixture
    def tmp_path(self) -> Iterator[Path]:
        """An empty folder of the check's own; student code cannot see it."""
        with TemporaryDirectory(prefix="check-", dir=self._root) as path:
            yield Path(path)

    @pytest.fixture
    def probe(self, request: pytest.FixtureRequest) -> Probe:
        """The exercise's probe file that lies beside the check, or the shown one."""
        # A hidden check may use what a student sees as well; never the other way round.
        shown = self._exercise.shown_checks
        for folder in (request.path.parent, shown.parent if shown else None):
            for path in self._exercise.probes:
                if path.parent == folder:
                    return Probe(self._student, path)
        raise LookupError(f"there is no probe_{self._exercise.id}.py beside {request.path.name}")


class Timer:
    """A timer over a check's own code. Without SIGALRM it does nothing: the host's deadline of an exercise decides.

    The signal comes at the earliest moment at which the time can be over. If the check waited for a worker meanwhile,
    it is set again for what is left: a slow submission has deadlines of its own, and uses up none of this time.
    """

    def __init__(self) -> None:
        # Python runs signal handlers in the main thread only.
        self._usable = hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread()
        self._seconds = 0.0
        self._until = math.inf
        """When the time is over, on a clock that stands still while the check waits; infinite without a limit."""

    def start(self, seconds: float) -> None:
        """Start it; with 0 there is no limit."""
        if self._usable:
            self._seconds = seconds
            self._until = _own_time() + seconds if seconds else math.inf
            signal.signal(signal.SIGALRM, self._look)
            signal.setitimer(signal.ITIMER_REAL, seconds)

    def stop(self) -> None:
        """Stop it."""
        if self._usable:
            self._until = math.inf
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _look(self, *_: object) -> None:
        left = self._until - _own_time()
        if left > 0 or waiting.is_on:
            if left < math.inf:
                signal.setitimer(signal.ITIMER_REAL, max(left, _SHORTEST_S))
            return
        # A BaseException, so that an `except Exception` in the check cannot go on as if nothing had happened.
        raise CheckTimeout(f"the check's own code took longer than {self._seconds:g} seconds")


def _own_time() -> float:
    return time.monotonic() - waiting.seconds()


def _outcome(check: Check, run: Run, student: Connection, seconds: float) -> Outcome:
    """The outcome of a check: of a shown check students read more than of a hidden one."""
    verdict, message, detail = run.decision
    counters, speed = dict(student.record.counters), tuple(student.record.speed)
    # Of a hidden check they are for staff alone: what is counted or measured could carry a hidden number out.
    if not check.shown:
        counted = [f"counted: {counters}"] if counters else []
        detail = "\n".join([detail, *counted, *(row.told for row in speed)]).strip()
    return Outcome(
        check.id,
        verdict,
        message,
        detail,
        round(seconds, 4),
        counters if check.shown else {},
        speed,
        student.device,
        run.cause,
        picture=run.picture if check.shown else None,
        line=0 if verdict is Verdict.PASSED else run.ended.line,
        called=tuple(sorted(student.record.called)),
    )
