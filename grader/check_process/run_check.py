"""Run one check once, in the one pytest session: its fixtures are set up, it is called, they are torn down."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pytest
from _pytest.assertion import util

from grader.check_process.checks import CollectedCheck, InputStream
from grader.check_process.connections import Connections
from grader.check_process.features import skip_if_marked
from grader.check_process.fixtures import Fixtures
from grader.check_process.own_time import limit_own_time
from grader.check_process.verdict import Comparison, outcome_of_check
from grader.connection.connection import Connection
from grader.connection.record import Record, recording_comparisons
from grader.model import Outcome
from grader.model.messages import Job


class Run(NamedTuple):
    """One run of a check: its outcome, and what it raised."""

    outcome: Outcome
    error: BaseException | None


class CheckRunner:
    """Runs checks, one at a time.

    Args:
        connections: the connections to references, and the time for which this process waits for workers.
        fixtures: the fixtures of checks.
    """

    def __init__(self, connections: Connections, fixtures: Fixtures) -> None:
        self._connections = connections
        self._fixtures = fixtures
        self._comparison: Comparison | None = None

    def note_failing_asserts(self) -> None:
        """Store both sides of each plain assert that fails from now on, for the messages.

        For that, pytest calls `_note_comparison`.
        """
        util._reprcompare = self._note_comparison

    def drew_random_numbers(self, row: CollectedCheck) -> bool:
        """Return whether the last run of a check may have drawn random numbers.

        It may if the check uses the fixture `rng`, or drew from a global generator. To learn the latter, this method
        seeds the global generators again.
        """
        return "rng" in row.item.fixturenames or not self._fixtures.inputs.reseed()

    def run(
        self,
        row: CollectedCheck,
        following: pytest.Item | None,
        job: Job,
        student: Connection,
        *,
        copying: bool = False,
        recording: bool = False,
        rewrite: Callable[..., tuple[Any, ...]] | None = None,
    ) -> Run:
        """Run a check once with a student's connection, and return its outcome and what it raised.

        Args:
            row: the check.
            following: the item that runs next, by which pytest tears fixtures down.
            job: the job, which has the seed of the inputs.
            student: the connection that the check gets as the student's.
            copying: True if student code gets copies of all arguments, see `Record`.
            recording: True if calls are kept, also of a hidden check.
            rewrite: a function that replaces the arguments of a call before they are sent, see `Record`.
        """
        exercise = row.file.exercise
        avoided = frozenset[int]() if row.check.shown else row.file.shown_sizes
        inputs = InputStream(job.seed, row.check, avoided)
        self._fixtures.connection, self._fixtures.exercise, self._fixtures.inputs = student, exercise, inputs
        self._connections.add_reference(exercise, student)
        inputs.seed_global_generators()
        seed, limits = inputs.workers_seed(), exercise.limits
        limits = replace(limits, call_s=row.call_s) if row.call_s else limits
        record = Record(
            seed,
            inputs.renew,
            copying=copying,
            rewrite=rewrite,
            recording=recording or row.check.shown,
            unconfirmed=not job.selection.again,
        )
        student.begin_check(record, limits)
        self._connections.waiting.begin_check(record.budget)
        # The same seed: a function that draws random numbers draws the same ones in both workers.
        if student.reference is not None:
            student.reference.begin_check(Record(seed))
        self._comparison = None
        row.renew_values()
        with recording_comparisons(record):
            error = self._run_item(row.item, following, exercise.limits.check_s)
        return Run(outcome_of_check(row, error, self._comparison, student), error)

    def _run_item(self, item: pytest.Function, following: pytest.Item | None, check_s: float) -> BaseException | None:
        """Set up a check's fixtures, call the check, and tear the fixtures down.

        Return the first exception, or None. pytest's own protocol also calls thirty hooks. They are left out: they have
        no effect here, and take longer than many a check.
        """
        # pytest runs each item once; its fixtures are made anew for every submission.
        item._initrequest()
        state = item.session._setupstate
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            steps = (lambda: skip_if_marked(item), lambda: state.setup(item), item.runtest)
            error = _run_steps(item, check_s, *steps)
            torn_down = _run_steps(item, check_s, lambda: state.teardown_exact(following))
        return error or torn_down

    def _note_comparison(self, op: str, left: object, right: object) -> str:
        """Store both sides of a plain assert that fails.

        Return the operator, which pytest puts into its message.
        """
        self._comparison = op, left, right
        return op.replace("%", "%%")


@dataclass(frozen=True)
class PlannedRun:
    """A check of a job that can be run, and run again in another way.

    Attributes:
        runner: the object that runs the check.
        row: the check.
        following: the item that runs next.
        job: the job that it belongs to.
    """

    runner: CheckRunner
    row: CollectedCheck
    following: pytest.Item | None
    job: Job

    def run(
        self,
        student: Connection,
        *,
        copying: bool = False,
        recording: bool = False,
        rewrite: Callable[..., tuple[Any, ...]] | None = None,
    ) -> Run:
        """Run the check once with this connection as the student's; see `CheckRunner.run`.

        Args:
            student: the connection that stands for the student's.
            copying: True if student code gets copies of all arguments.
            recording: True if calls are kept, also of a hidden check.
            rewrite: a function that replaces the arguments of a call before they are sent.
        """
        how: dict[str, Any] = {"copying": copying, "recording": recording, "rewrite": rewrite}
        return self.runner.run(self.row, self.following, self.job, student, **how)


def _run_steps(item: pytest.Function, check_s: float, *steps: Callable[[], object]) -> BaseException | None:
    """Run steps of a check under its time limit, until a step raises.

    Return that exception, or None.
    """
    try:
        with limit_own_time(item, check_s):
            for step in steps:
                step()
    except (KeyboardInterrupt, pytest.exit.Exception):
        raise
    except BaseException as error:
        return error
    return None
