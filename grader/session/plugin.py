"""One pytest session for the whole run: checks are collected once and run again for each submission.

The host says which exercises there are, then sends one job for each exercise of each submission.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pytest

from grader.check.devices import Accelerator
from grader.jobs import Collected, Done, Job, PlannedExercise
from grader.model import Check, Device, Outcome, Verdict
from grader.remote import asked
from grader.remote.side import Side
from grader.session.again import Known, Runs
from grader.session.authors import Comparison
from grader.session.cause import cause_of
from grader.session.checks import CollectedCheck, collected_check
from grader.session.decide import Decision, Ended, Telling, decide
from grader.session.ended import ended_of
from grader.session.given import Given
from grader.session.globals import Kept
from grader.session.inputs import InputStream
from grader.session.outcome import outcome_of
from grader.session.picturing import picture_of
from grader.session.printed import Printed
from grader.session.proof import Tries
from grader.session.sides import Sides
from grader.session.timer import Timer
from grader.session.tracing import traced
from grader.session.words import Words

_NO_CUDA = "needs a CUDA device; grade --device cuda uses one"


class Host(Protocol):
    """Whom the session tells, and who gives it work."""

    def next_job(self) -> Job | None:
        """The next job, or None at the end."""

    def tell(self, message: Collected | Outcome | Done) -> None:
        """Told once what was collected, then an outcome after each check, and the end of each job."""


class CheckSession:
    """The pytest plugin: collects, runs the jobs, turns endings into outcomes."""

    def __init__(self, host: Host, planned: Sequence[PlannedExercise], sides: Sides, accelerator: Accelerator) -> None:
        self._host = host
        self._planned = {item.id: item for item in planned}
        self._accelerator = accelerator
        self._checks: dict[str, list[CollectedCheck]] = {item.id: [] for item in planned}
        self._problems: dict[str, str] = {}
        self._sides = sides
        self._student: Side | None = None
        self._reference: Side | None = None
        self._exercise: PlannedExercise | None = None
        self._inputs: InputStream | None = None
        self._excinfo: pytest.ExceptionInfo[BaseException] | None = None
        self._comparison: Comparison | None = None
        self._words: dict[Path, Words] = {}
        self._kept: dict[Path, Kept] = {}
        self._found_out = Known()
        self._examples: dict[tuple[str, str], str] = {}
        self._tries = Tries(self._examples)
        self._timer = Timer()

    # -- collecting -----------------------------------------------------------------------------------------------

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a check file that cannot be collected; its exercise is broken, the others are not."""
        if report.failed:
            for item in self._planned.values():
                if report.nodeid and any(
                    path is not None and str(path).endswith(report.nodeid)
                    for path in (item.shown_checks, item.hidden_checks)
                ):
                    self._problems[item.id] = str(report.longrepr)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Sort the checks by exercise, shown ones first, and tell the host of them."""
        files = {path: (id, True) for id, planned in self._planned.items() if (path := planned.shown_checks)}
        files |= {path: (id, False) for id, planned in self._planned.items() if (path := planned.hidden_checks)}
        for item in session.items:
            assert isinstance(item, pytest.Function)
            id, shown = files[item.path]
            self._checks[id].append(collected_check(item, id, shown=shown))
            self._kept.setdefault(item.path, Kept(item.module)).keep(item)
        # Shown ones first: what a student prints is kept up to the first hidden input, and no further.
        for rows in self._checks.values():
            rows.sort(key=lambda row: not row.check.shown)
        self.tell_checks()

    def tell_checks(self) -> None:
        """Tell the host which checks there are; it waits for that."""
        checks = tuple(row.check for rows in self._checks.values() for row in rows)
        self._host.tell(Collected(checks, self._problems, self._accelerator.count))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run jobs instead of one pass over the items."""
        session.testsfailed = 0  # collection errors are told, and stop nothing
        self.run_jobs()
        return True

    def current(self) -> Given:
        """What the check that runs just now is given."""
        assert self._exercise is not None
        assert self._student is not None
        assert self._inputs is not None
        return Given(self._exercise, self._student, self._reference, self._inputs)

    # -- running --------------------------------------------------------------------------------------------------

    def run_jobs(self) -> None:
        """Grade until the host has no more work."""
        while (job := self._host.next_job()) is not None:
            self._run_job(job)

    def _run_job(self, job: Job) -> None:
        planned = self._exercise = self._planned[job.exercise]
        part = job.part
        rows = [row for row in self._checks[job.exercise] if part.has(row.check.id)]
        self._tries = Tries(self._examples)
        printed = Printed(planned.limits.shown_output_kb * 1024)
        try:
            for number, row in enumerate(rows):
                check = row.check
                if not self._has_device(check):
                    self._host.tell(Outcome(check.id, Verdict.NOT_RUN, _NO_CUDA))
                    continue
                # pytest tears fixtures down by what comes next, so it is told of the next check that will really run.
                later = [] if part.stops else rows[number + 1 :]
                following = (other.item for other in later if self._has_device(other.check))
                # The last moment at which no hidden input is known to the worker; what is printed from here on is not
                # kept.
                if not check.shown:
                    printed.close(self._sides.sittings())
                device = Device.NONE if check.device is Device.NONE else self._accelerator.type
                self._student, self._reference = self._sides.meet(planned, job, device)
                self._host.tell(outcome := self._run_check(row, next(following, None), job))
                printed.note(self._sides.sittings())
                if part.stops and outcome.verdict.decided and outcome.verdict is not Verdict.PASSED:
                    break
        finally:
            # Also when the job ends by an error of ours: the next author must not meet this one's workers.
            printed.close(self._sides.sittings())
            self._tries.close()
            self._sides.part()
            self._student = None
        self._host.tell(Done(printed.text))

    def _has_device(self, check: Check) -> bool:
        return check.device is not Device.CUDA or self._accelerator.type is Device.CUDA

    def _run_check(self, row: CollectedCheck, following: pytest.Item | None, job: Job) -> Outcome:
        assert self._student is not None
        assert self._exercise is not None
        check, student = row.check, self._student
        exercise = self._exercise
        stand_in = partial(self._stand_in, student.device) if exercise.reference else None
        attempt = partial(self._attempt, row, following, job)
        if check.id in job.part.traced:
            return traced(check, student, job.part.traced[check.id], attempt)
        started = time.monotonic()
        decision = Runs(check, attempt, stand_in, self._telling(row.item), self._found_out, job.seed).judge(student)
        seconds = time.monotonic() - started
        calls, outcome = student.calls, outcome_of(check, decision, student, seconds)
        if not job.part.told:
            return outcome

        outcome = self._tries.with_lines(check, outcome, calls, student, job.keep, lambda side: attempt(side)[1][:2])
        return self._tries.with_example(check, outcome, student, self._reference)

    def _attempt(
        self,
        row: CollectedCheck,
        following: pytest.Item | None,
        job: Job,
        student: Side,
        *,
        copying: bool = False,
    ) -> tuple[Ended, Decision]:
        """Run a check once, with this side as the student's, which is given copies or the arguments themselves."""
        assert self._exercise is not None
        check, self._student = row.check, student
        self._reference = self._sides.reference(self._exercise, student)
        self._inputs = InputStream(job.seed, check)
        self._inputs.begin_others()
        seed = self._inputs.workers_seed()
        self._begin(student, seed, recording=check.shown, limit=row.call_s)
        student.copying = copying
        asked.begin()
        # The same seed: a function that draws random numbers draws the same ones on both sides.
        if self._reference is not None:
            self._begin(self._reference, seed, recording=False, limit=None)
        self._excinfo = self._comparison = None
        # pytest runs each item once; its fixtures are made anew for every submission.
        self._kept[row.item.path].renew(row.item)
        row.item._initrequest()
        row.item.config.hook.pytest_runtest_protocol(item=row.item, nextitem=following)
        ended = ended_of(self._excinfo, row.item.path, self._comparison)
        decision = decide(check, ended, student, self._reference, self._telling(row.item))
        student.cause = cause_of(check, decision[0], ended.error or student.sitting.lost)
        student.line = ended.line
        student.picture = picture_of(check, decision[0], ended.error, student.calls)
        return ended, decision

    def _telling(self, item: pytest.Function) -> Telling:
        assert self._exercise is not None
        if item.path not in self._words:
            self._words[item.path] = Words.of(item.path, self._exercise.id, self._exercise.limits)
        return Telling(self._exercise.contract, self._words[item.path])

    @contextmanager
    def _stand_in(self, device: Device) -> Iterator[Side]:
        """The reference in the student's place."""
        assert self._exercise is not None
        side = self._sides.stand_in(self._exercise, device)
        try:
            yield side
        finally:
            side.sitting.close()

    def _begin(self, side: Side, seed: int, *, recording: bool, limit: float | None) -> None:
        assert self._exercise is not None
        limits = self._exercise.limits
        side.begin_check(seed, replace(limits, call_s=limit) if limit else limits, self._leave, recording=recording)

    def _leave(self, learns: bool) -> Callable[[], None]:
        """A worker is asked: the check's own clock stands still, and what it learns then tells of no later input."""
        assert self._inputs is not None
        if learns:
            self._inputs.renew()
        return self._timer.pause()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Look at what is around a check before its fixtures are made: pytest listens to warnings of its own."""
        for side in (self._student, self._reference):
            if side is not None:
                side.around.begin()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """Keep what a check raised, in whichever phase came first; tell pytest no more than that it did."""
        if call.excinfo is not None and self._excinfo is None:
            self._excinfo = call.excinfo
        # pytest's own report reads the check file anew for each failure and draws its lines, which nobody would see.
        assert call.when != "collect"
        return pytest.TestReport(
            item.nodeid, item.location, {}, "failed" if call.excinfo else "passed", None, call.when
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> list[str]:
        """Keep both sides of a plain assert."""
        self._comparison = Comparison(op, left, right)
        return [f"{op}"]

    @pytest.hookimpl(tryfirst=True)
    def pytest_timeout_set_timer(self, settings: Any) -> bool | None:
        """Guard a check's own code with a timer that can be paused, where signals allow it."""
        assert self._exercise is not None
        return self._timer.start(self._exercise.limits.check_s if settings.timeout else 0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_timeout_cancel_timer(self) -> bool | None:
        """End the timer."""
        return self._timer.stop()
