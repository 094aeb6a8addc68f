"""One pytest session for the whole run: checks are collected once and run again for each submission.

The host says which exercises there are (`Plan`), then sends one job for each exercise of each submission. The session
never imports student code, so that it stays clean.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import pytest

from grader.check.accelerator import Accelerator
from grader.check.declare import Rng
from grader.check.outcome import Comparison, Ending, decide
from grader.check.printed import Printed
from grader.check.probes import Probe
from grader.check.reproduce import Keep, reproduce
from grader.check.student import Party, Student
from grader.check.timer import Timer
from grader.check.workers import Sitting, Starter
from grader.model import Check, Limits, Outcome, Verdict

_INI = Path(__file__).with_name("pytest.ini")
_NO_CUDA = "needs a CUDA device; grade --device cuda uses one"
_PLUGINS_OFF = (
    "cacheprovider",
    "capture",
    "doctest",
    "faulthandler",
    "junitxml",
    "logging",
    "pastebin",
    "setuponly",
    "setupplan",
    "stepwise",
    "terminal",
    "threadexception",
    "unraisableexception",
)


@dataclass(frozen=True)
class PlannedExercise:
    """What the check process must know of an exercise."""

    id: str
    shown_checks: Path | None
    hidden_checks: Path | None
    probes: tuple[Path, ...]
    reference: Path | None
    contract: Mapping[str, str]
    limits: Limits


@dataclass(frozen=True)
class Job:
    """One exercise of one submission.

    Attributes:
        exercise: its id.
        files: the submission's files by relative name.
        seed: the run's seed.
        keep: where large inputs of failing shown checks are kept, or None.
        only: ids of the checks to run, or None for all: those that were inconclusive are repeated.
    """

    exercise: str
    files: Mapping[str, bytes]
    seed: int
    keep: Keep | None
    only: frozenset[str] | None = None


class Host(Protocol):
    """Whom the session tells, and who gives it work."""

    def collected(self, checks: list[Check], problems: dict[str, str]) -> None:
        """Told once: all checks, and by exercise what kept its checks from being collected."""

    def next_job(self) -> Job | None:
        """The next job, or None at the end."""

    def outcome(self, outcome: Outcome) -> None:
        """Told after each check."""

    def done(self, output: str) -> None:
        """Told after each job, with what the student printed during shown checks."""


def run_session(
    host: Host,
    planned: list[PlannedExercise],
    starter: Starter,
    kind: type[CheckSession] | None = None,
    accelerator: Accelerator | None = None,
) -> None:
    """Collect the checks of all exercises, then grade jobs until there are no more.

    Args:
        host: who gives work and is told of outcomes.
        planned: all exercises.
        starter: starts workers.
        kind: another kind of session, to compare with.
        accelerator: what checks of devices run on; by default it is simulated.
    """
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    paths = [str(path) for item in planned for path in (item.shown_checks, item.hidden_checks) if path is not None]
    options = [option for name in _PLUGINS_OFF for option in ("-p", f"no:{name}")]
    options += ["-p", "pytest_timeout", "-c", str(_INI), "--noconftest", "--import-mode=importlib"]
    options += ["--timeout=1"]  # switches the timer on; how long it runs is the exercise's limit
    root = os.path.commonpath([str(Path(path).parent) for path in paths]) if paths else "."
    session = (kind or CheckSession)(host, planned, starter, accelerator or Accelerator())
    try:
        if paths:
            options.append("--continue-on-collection-errors")
            pytest.main([*options, f"--rootdir={root}", *paths], plugins=[session])
        else:
            session.run_jobs()
    finally:
        session.close()


class CheckSession:
    """The pytest plugin: gives checks their fixtures, runs the jobs, turns endings into outcomes."""

    def __init__(self, host: Host, planned: list[PlannedExercise], starter: Starter, accelerator: Accelerator) -> None:
        self._host = host
        self._planned = {item.id: item for item in planned}
        self._starter = starter
        self._accelerator = accelerator
        self._items: dict[str, list[tuple[Check, pytest.Function]]] = {item.id: [] for item in planned}
        self._call_s: dict[tuple[str, str], float | None] = {}
        self._problems: dict[str, str] = {}
        self._references: dict[tuple[str, str], Party] = {}
        self._students: dict[str, Party] = {}
        self._student: Party | None = None
        self._reference: Party | None = None
        self._exercise: PlannedExercise | None = None
        self._rng_seed = 0
        self._excinfo: pytest.ExceptionInfo[BaseException] | None = None
        self._comparison: Comparison | None = None
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
            check = _check_of(item, id, shown=shown)
            self._items[id].append((check, item))
            mark = item.get_closest_marker("graded")
            self._call_s[id, check.id] = mark.kwargs["call_s"] if mark else None
        for rows in self._items.values():
            rows.sort(key=lambda row: not row[0].shown)
        checks = [check for rows in self._items.values() for check, _ in rows]
        self._host.collected(checks, self._problems)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run jobs instead of one pass over the items."""
        session.testsfailed = 0  # collection errors are told, and stop nothing
        self.run_jobs()
        return True

    # -- running --------------------------------------------------------------------------------------------------

    def run_jobs(self) -> None:
        """Grade until the host has no more work."""
        while (job := self._host.next_job()) is not None:
            self._run_job(job)

    def _run_job(self, job: Job) -> None:
        planned = self._planned[job.exercise]
        self._exercise = planned
        rows = [row for row in self._items[job.exercise] if job.only is None or row[0].id in job.only]
        printed = Printed(planned.limits.shown_output_kb * 1024)
        try:
            for number, (check, item) in enumerate(rows):
                if not self._has_device(check):
                    self._host.outcome(Outcome(check.id, Verdict.NOT_RUN, _NO_CUDA))
                    continue
                following = (later for other, later in rows[number + 1 :] if self._has_device(other))
                if not check.shown:
                    printed.close(self._sittings())
                self._meet(planned, job, "none" if check.device == "none" else self._accelerator.type)
                self._host.outcome(self._run_check(check, item, next(following, None), job))
                printed.note(self._sittings())
        finally:
            printed.close(self._sittings())
            for sitting in self._sittings():
                sitting.close()
            self._students.clear()
            self._student = None
        self._host.done(printed.text)

    def _has_device(self, check: Check) -> bool:
        return check.device != "cuda" or self._accelerator.type == "cuda"

    def _sittings(self) -> list[Sitting]:
        return [party.sitting for party in self._students.values()]

    def _meet(self, planned: PlannedExercise, job: Job, device: str) -> None:
        """Turn to the student and the reference whose workers see this device."""
        if device not in self._students:
            self._students[device] = self._student_party(planned, job, device)
        self._student = self._students[device]
        self._reference = self._reference_party(planned, self._student)

    def _student_party(self, planned: PlannedExercise, job: Job, device: str) -> Party:
        return Party(Sitting(self._starter, planned.id, job.files, planned.limits, device=device))

    def _run_check(self, check: Check, item: pytest.Function, following: pytest.Item | None, job: Job) -> Outcome:
        assert self._student is not None
        assert self._exercise is not None
        started = time.monotonic()
        seed = derived_seed(job.seed, check)
        self._rng_seed = seed
        self._begin(self._student, seed, recording=check.shown, limit=self._call_s[check.exercise, check.id])
        if self._reference is not None:
            self._begin(self._reference, seed, recording=False, limit=None)
        self._excinfo = self._comparison = None
        item._initrequest()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        ending = self._ending(item)
        verdict, message, detail = decide(check, ending, self._student, self._reference, self._exercise.contract)
        if check.shown and verdict in (Verdict.FAILED, Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OVER_LIMIT):
            device = self._student.sitting.device
            lines = reproduce(self._exercise.id, check.id, self._student.calls, job.keep, device)
            message += f"\n\n{lines}" if lines else ""
        seconds = round(time.monotonic() - started, 4)
        student = self._student
        measured = dict(student.counters), list(student.speed)
        return Outcome(check.id, verdict, message, detail, seconds, *measured, student.sitting.device)

    def _begin(self, party: Party, seed: int, *, recording: bool, limit: float | None) -> None:
        assert self._exercise is not None
        limits = self._exercise.limits
        party.sitting.limits = replace(limits, call_s=limit) if limit else limits
        party.outside = self._timer.pause
        party.begin_check(seed, recording=recording)

    def _ending(self, item: pytest.Function) -> Ending:
        if self._excinfo is None:
            return Ending(None)
        own = [entry for entry in self._excinfo.traceback if Path(str(entry.path)) == item.path]
        statement = str(own[-1].statement) if own else ""
        comparison = self._comparison if isinstance(self._excinfo.value, AssertionError) else None
        trace = "\n".join(f"{entry.path}:{entry.lineno + 1}: {entry.name}" for entry in self._excinfo.traceback)
        return Ending(self._excinfo.value, statement, comparison, trace)

    def _reference_party(self, planned: PlannedExercise, student: Party) -> Party | None:
        if planned.reference is None:
            return None
        device = student.sitting.device
        party = self._references.get((planned.id, device))
        if party is None or party.sitting.lost is not None or party.sitting.is_worn():
            if party is not None:
                party.sitting.close()
            files = {planned.id + ".py": planned.reference.read_bytes()}
            own: dict[str, Any] = {"owner": "the reference's", "secret": True, "device": device}
            sitting = Sitting(self._starter, planned.id, files, planned.limits, **own)
            party = self._references[planned.id, device] = Party(sitting)
        party.originals = student
        return party

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Iterator[None]:
        """Keep what a check raised, in whichever phase came first."""
        if call.excinfo is not None and self._excinfo is None:
            self._excinfo = call.excinfo
        return (yield)

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

    # -- what checks are given ------------------------------------------------------------------------------------

    @pytest.fixture
    def student(self) -> Student:
        """The student's module."""
        assert self._student is not None
        return Student(self._student)

    @pytest.fixture
    def reference(self) -> Student:
        """The reference, in a worker of its own; it is given arguments as they were before the student's call."""
        if self._reference is None:
            pytest.skip("this copy of the course has no reference solution")
        return Student(self._reference)

    @pytest.fixture
    def rng(self) -> Rng:
        """A generator seeded from the run's seed and the check's id."""
        rng = Rng()
        rng.manual_seed(self._rng_seed)
        return rng

    @pytest.fixture
    def accelerator(self) -> Accelerator:
        """The accelerator that the worker of a check with `device="sim"` sees."""
        return self._accelerator

    @pytest.fixture
    def probe(self, request: pytest.FixtureRequest) -> Probe:
        """The exercise's probe file that lies beside the check."""
        assert self._student is not None
        assert self._exercise is not None
        for path in self._exercise.probes:
            if path.parent == request.path.parent:
                return Probe(self._student, path)
        raise LookupError(f"there is no probe_{self._exercise.id}.py beside {request.path.name}")

    def close(self) -> None:
        """End the references' workers."""
        for party in self._references.values():
            party.sitting.close()


def derived_seed(seed: int, check: Check) -> int:
    """The seed of one check in one run."""
    digest = hashlib.sha256(f"{seed}/{check.exercise}/{check.id}".encode()).digest()
    return int.from_bytes(digest[:6], "big")


def _check_of(item: pytest.Function, exercise: str, *, shown: bool) -> Check:
    told: dict[str, Any] = {}
    mark = item.get_closest_marker("graded")
    if mark is not None:
        told = {name: value for name, value in mark.kwargs.items() if name not in ("shown", "call_s")}
        if mark.kwargs["shown"] is not None:
            shown = mark.kwargs["shown"] or shown
    text = (item.function.__doc__ or "").strip().splitlines()
    title = text[0].rstrip(".") if text else item.name
    id = item.name.removeprefix("check_")
    if "[" in item.name:
        title += f" [{item.name.split('[', 1)[1]}"
    return Check(id=id, exercise=exercise, title=title, shown=shown, **told)
