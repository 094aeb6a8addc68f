"""What runs in a Dask worker, where a batch opens lanes, and in the scheduler. No student code runs in either."""

from __future__ import annotations

import asyncio
import signal
import socket
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from distributed import Reschedule, Scheduler, SchedulerPlugin, Status, Worker, WorkerPlugin, get_worker

from grader.grading.diagnosis import Known
from grader.grading.lanes import open_lanes
from grader.grading.plan import Outcomes, Work, unpack
from grader.grading.store import describe_machine, package_digest
from grader.model import Submission
from grader.model.errors import GraderError, StartError
from grader.model.messages import Setup
from grader.runner.pool import Stopped

Sent = tuple[str, Submission, Outcomes | None]
"""A work on its way: the exercise's id, the submission, and what is to be repeated."""
Came = tuple[Outcomes, str | None, bool]
"""A result on its way."""


def facts(setup: Setup) -> dict[str, str]:
    """What verdicts depend on at this machine, by its name for people."""
    here = describe_machine(setup, None)
    own = f"{here.grader} ({package_digest()[:12]})"
    versions = {"tensorgrade": own, "Python": here.python, "PyTorch": here.torch, "NumPy": here.numpy}
    return {**versions, "a processor of the kind": here.os.split()[-1]}


class NodePlugin(WorkerPlugin):
    """Opens a batch's lanes in a Dask worker, also in one that joins later.

    A worker that can grade gets a resource of the batch's name, one for each of its threads. Work needs one of them, so
    that other workers never get any.

    Args:
        name: of the batch.
        packed: the run plan, see `pack`.
        expected: what `facts` must give there.
        local: whether the batch started the process: Ctrl-C in its terminal is then for the batch alone.
    """

    def __init__(self, name: str, packed: bytes, expected: dict[str, str], *, local: bool) -> None:
        self.name = name
        self._packed = packed
        self._expected = expected
        self._local = local

    async def setup(self, worker: Worker) -> None:
        """Open the lanes, and say whether that went well; in any case the worker stays usable for others."""
        if self._local:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._worker = worker
        self._stack, self._loop = ExitStack(), asyncio.get_running_loop()
        # A fork server ends with the thread that started it, so one thread opens and closes it.
        self._thread = ThreadPoolExecutor(1, "node")
        try:
            await self._loop.run_in_executor(self._thread, self._open, Path(worker.local_directory))
        except Exception as error:  # of any kind: who started the batch reads it
            self._say(str(error) if isinstance(error, GraderError) else f"{type(error).__name__}: {error}")
            return
        await worker.set_resources(**{self.name: worker.state.nthreads})
        # The scheduler looks again at work that no worker could do when a worker goes on after a pause.
        worker.status = Status.paused
        worker.status = Status.running
        self._say("")

    def _open(self, place: Path) -> None:
        folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="grade-course-", dir=place)))  # mode 0700
        self._plan = plan = unpack(self._packed, folder)
        mine = facts(plan.setup)
        if wrong := [f"{name} {mine[name]}, expected {it}" for name, it in self._expected.items() if mine[name] != it]:
            raise StartError("it has " + "; ".join(wrong))
        slots, known = self._worker.state.nthreads, Known(plan.setup)
        self._lanes = self._stack.enter_context(
            open_lanes(plan.exercises, plan.setup, slots, hidden=(folder,), known=known)
        )
        self._lanes.collected()  # a worker that cannot confine student code is refused before it has work

    def _say(self, refused: str) -> None:
        who = {"address": self._worker.contact_address, "host": socket.gethostname()}
        slots = 0 if refused else self._worker.state.nthreads
        self._worker.log_event(self.name, {**who, "slots": slots, "why": " ".join(refused.split())})

    def grade(self, sent: Sent) -> Came:
        """Grade one exercise of one submission; where no lane can be had any more, another worker does it."""
        id, submission, before = sent
        exercise = next(exercise for exercise in self._plan.exercises if exercise.id == id)
        work = Work(self._plan, exercise, submission, before.graded(exercise) if before else None)
        try:
            result = self._lanes.submit(work).result()
        except (GraderError, Stopped, CancelledError) as error:
            # The scheduler knows before the work comes back to it, or would send it here again.
            given_up = self._give_up(str(error) or "its lanes are closed")
            asyncio.run_coroutine_threadsafe(given_up, self._loop).result()
            raise Reschedule from None
        return Outcomes.of(result.graded), result.confinement, result.late

    async def _give_up(self, why: str) -> None:
        # In the scheduler alone: work that is here already would otherwise wait for its resource for ever.
        await self._worker.scheduler.set_resources(worker=self._worker.contact_address, resources={self.name: 0})
        self._say(why)

    async def teardown(self, worker: Worker) -> None:
        """End the lanes, and remove the course."""
        await self._loop.run_in_executor(self._thread, self._stack.close)
        self._thread.shutdown(wait=False)


def grade_here(name: str, sent: Sent) -> Came:
    """Have a batch's work done by the Dask worker that this runs in."""
    plugin = get_worker().plugins[name]
    assert isinstance(plugin, NodePlugin)
    return plugin.grade(sent)


class BatchPlugin(SchedulerPlugin):
    """While a batch is connected, the scheduler gives up what two workers were lost with, and what none can do.

    When the batch has ended, even by a fault, the workers close their lanes.

    Args:
        name: of the batch.
        client: the id of its client.
        wait_s: for how many seconds work waits for a worker.
        local: whether the workers end with the batch, and close their lanes then.
    """

    def __init__(self, name: str, client: str, wait_s: float, *, local: bool) -> None:
        self.name = name
        self._client = client
        self._local = local
        self._limits: tuple[int, float | None] = 1, wait_s

    async def start(self, scheduler: Scheduler) -> None:
        """Begin."""
        self._exchange_limits(scheduler)

    def _exchange_limits(self, scheduler: Scheduler) -> None:
        before = scheduler.allowed_failures, scheduler.no_workers_timeout
        scheduler.allowed_failures, scheduler.no_workers_timeout = self._limits
        self._limits = before

    def remove_worker(self, scheduler: Scheduler, worker: str, **_: Any) -> None:
        """Let the batch know."""
        scheduler.log_event(self.name, {"address": worker, "slots": 0, "why": ""})

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        """End, if that client was the batch's."""
        if client == self._client:
            self._exchange_limits(scheduler)
            scheduler.remove_plugin(self.name)
            if not self._local:  # a worker that is ending may no longer answer, and Dask would print a traceback
                self._goodbye = asyncio.ensure_future(self._close_lanes(scheduler))

    async def _close_lanes(self, scheduler: Scheduler) -> None:
        with suppress(OSError, ValueError):  # workers that are gone have none, nor has a batch that opened none
            await scheduler.unregister_worker_plugin(comm=None, name=self.name)
