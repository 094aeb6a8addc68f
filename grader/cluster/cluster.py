"""A batch on a Dask cluster, which sends work to workers with lanes and has it done again elsewhere.

What a worker was lost with is graded by another one. What a second one is lost with is broken, and costs no points.
The second half runs in the workers and in the scheduler of the cluster. No student code runs in either.
"""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dask
from distributed import (
    Client,
    KilledWorker,
    Nanny,
    Reschedule,
    Scheduler,
    SchedulerPlugin,
    Security,
    SpecCluster,
    Status,
    Worker,
    WorkerPlugin,
    get_worker,
)
from distributed.node import ServerNode
from distributed.scheduler import NoValidWorkerError, NoWorkerError

from grader.grading.diagnosis import KnownMistakes
from grader.grading.handed_in import as_handed_in
from grader.grading.outcomes import Outcomes, WorkResult, lost_machine_result
from grader.grading.packed_plan import pack_plan, unpack_plan
from grader.grading.plan import RunPlan, Work
from grader.grading.runtime import Runtime
from grader.grading.store import describe_machine, package_digest
from grader.model import Submission
from grader.model.errors import CourseError, GraderError, StartError
from grader.model.messages import Level, Setup
from grader.model.progress import Cancelled, Progress

_CONNECT_S = 20
_WAIT_S = 300.0
"""So long a first worker is waited for, and another one where all were lost: a queue may have to start it."""

_ANSWER_S = 10.0
_AGAIN = "the same command goes on from there"

RemoteWork = tuple[str, Submission, Outcomes | None]
"""A work that is sent to a machine: the exercise's id, the submission, and what is to be repeated."""
RemoteResult = tuple[Outcomes, str | None, bool]
"""The result of such a work: outcomes, the level of confinement, and whether it was starved of a core."""


@contextmanager
def open_cluster(address: str, plan: RunPlan, slots: int, progress: Progress) -> Iterator[Cluster]:
    """Yield a `Cluster`, the executor that grades works in lanes on Dask workers.

    It connects to the scheduler when the first work is submitted. Each Dask worker grades in lanes of its own.

    Args:
        address: an address as on the command line: a scheduler's address, its file, or local:N.
        plan: the run plan.
        slots: the number of works that all N workers of local:N together grade at once; unused for a scheduler.
        progress: the receiver of messages about workers.

    Raises:
        CourseError: the batch has no sandbox. The first `submit` raises one if no scheduler is at the address, or if
            none of its workers can grade.
    """
    if plan.setup.least is Level.NONE:
        raise CourseError(
            "--cluster needs a sandbox: student code that reached the network could command the cluster; leave out "
            "--confinement none and --device cuda"
        )
    with ExitStack() as stack:
        yield Cluster(lambda: _connect(address, slots, stack), address, plan, progress)


class Cluster:
    """An executor that grades works on the Dask workers of a cluster; see `open_cluster`."""

    def __init__(self, connect: Callable[[], Client], address: str, plan: RunPlan, progress: Progress) -> None:
        self._connect = connect
        self._address = address
        self._plan = plan
        self.progress = progress
        self._client: Client | None = None
        self._slots: dict[str, int] = {}
        self._events: set[tuple[float, str]] = set()

    @property
    def slots(self) -> int:
        """Return how many works can be graded at once by the connected workers; at least 1."""
        return max(1, sum(list(self._slots.values())))

    def submit(self, work: Work) -> Future[WorkResult]:
        """Submit one work to the next free worker, and return a future of its result.

        The first call also connects to the scheduler, and waits until workers have opened their lanes.
        """
        if self._client is None:
            self._client = self._set_up_workers(self._connect())
        own = Future[WorkResult]()
        own.set_running_or_notify_cancel()
        self._send_work(self._client, work, own)
        return own

    def _send_work(self, client: Client, work: Work, own: Future[WorkResult], *, again: bool = False) -> None:
        id, submission = work.exercise.id, work.submission
        # Nothing of others travels with it.
        slim = replace(submission, exercises={id: submission.files_of(work.exercise)})
        sent = id, slim, Outcomes.of(work.before) if work.before is not None else None
        remote = client.submit(grade_on_worker, self._name, sent, pure=False, resources={self._name: 1})
        remote.add_done_callback(partial(self._on_result, client, work, own, again))

    def _on_result(self, client: Client, work: Work, own: Future[WorkResult], again: bool, remote: Any) -> None:
        """Set the result of a work's future when Dask's future of the same work has ended.

        If only the result was lost, the work is sent again, but only once.

        Args:
            client: the client of Dask's scheduler.
            work: the work.
            own: the future that `submit` returned.
            again: True if the work was sent again before, so that it is not sent a third time.
            remote: Dask's future of the work, which has ended.
        """
        try:
            outcomes, confinement, starved = remote.result()
            own.set_result(WorkResult(work, outcomes.graded(work.exercise), confinement, starved))
        except KilledWorker as error:
            own.set_result(
                WorkResult(work, as_handed_in(lost_machine_result(work.exercise, str(error)), work.submission))
            )
        except (NoWorkerError, NoValidWorkerError):
            own.set_exception(StartError(f"all machines of the cluster were lost or refused; {_AGAIN}"))
        except CancelledError:
            # Dask cancels what it cannot fetch, as the worker was lost just after it had graded.
            if client.status == "running" and not again:
                self._send_work(client, work, own, again=True)
            else:
                own.set_exception(StartError(f"the cluster was lost, with what it was grading; {_AGAIN}"))
        except Exception as error:  # a defect of ours there
            own.set_exception(error)

    def _on_event(self, event: tuple[float, dict[str, Any]]) -> None:
        """Record how many works a worker can grade at once, as the worker's event says.

        If the worker cannot grade, its reason is reported. An event that was received before is ignored.

        Args:
            event: the time of the event, and a dict such as
                `{"address": "tls://10.0.0.2:40001", "host": "node2", "slots": 4, "why": ""}`; `why` is the reason of a
                worker that cannot grade.
        """
        when, said = event
        if (when, said["address"]) in self._events:
            return
        self._events.add((when, said["address"]))
        self._slots[said["address"]] = said["slots"]
        if said["why"]:
            self.progress.noted(f"{said['host']} ({said['address']}) is refused: {said['why']}")

    def _set_up_workers(self, client: Client) -> Client:
        """Have each Dask worker get ready to grade, and wait until the workers have answered.

        A worker opens its lanes, each of which grades one exercise at a time, and answers how many these are. A worker
        that does not answer in time is reported and left out. Return the client.

        Raises:
            CourseError: no worker connected in time, none of them can grade, or the scheduler cannot import us.
        """
        where = str(client.scheduler_info(n_workers=0)["address"])
        if not where.startswith(("tls://", "wss://")):
            self.progress.noted(
                f"{where} is open: whoever reaches it can read hidden checks and change grades; use tls://"
            )
        if not client.nthreads():
            self.progress.noted(f"{self._address} has no machine yet; waiting for the first")
        try:
            client.wait_for_workers(1, timeout=_WAIT_S)
        except TimeoutError:
            raise CourseError(f"--cluster: {self._address} has no machine after {_WAIT_S:.0f} s") from None
        self._name = f"grade-{client.id}"
        local = self._address.startswith("local:")
        try:
            client.register_plugin(BatchPlugin(self._name, client.id, _WAIT_S, local=local))
        except (ImportError, AttributeError) as error:
            raise CourseError(
                f"--cluster: the scheduler of {self._address} cannot import this version of tensorgrade ({error}); "
                "install the version that is here where it runs, and distributed and cryptography"
            ) from None
        client.subscribe_topic(self._name, self._on_event)
        problem, setup = "it did not answer", self._plan.setup
        try:
            client.register_plugin(NodePlugin(self._name, pack_plan(self._plan), machine_facts(setup), local=local))
        except Exception as error:  # of one worker, of any kind; the others go on
            problem = f"tensorgrade cannot be used there ({_short(error)}); install the version that is here"
        until = time.monotonic() + _ANSWER_S
        while (silent := client.nthreads().keys() - self._slots.keys()) and time.monotonic() < until:
            time.sleep(0.05)
            for event in client.get_events(self._name):  # of which a subscription on a busy machine misses the first
                self._on_event(event)
        for worker in silent:
            self.progress.noted(f"{worker} is refused: {problem}")
        if not any(self._slots.values()):
            raise CourseError("no machine of the cluster can grade this: fix the problems above")
        return client


def _connect(address: str, slots: int, stack: ExitStack) -> Client:
    """Connect to the scheduler of Dask at an address, and return the client.

    Args:
        address: the address of the scheduler, its file, or local:N to start a cluster of N workers on this machine.
        slots: the number of works that a cluster on this machine grades at once.
        stack: the stack that closes the client, and the cluster on this machine.

    Raises:
        CourseError: the address is not one, or no scheduler is there.
    """
    for name in ("distributed", "distributed.client", "distributed.scheduler", "distributed.nanny"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters of it is said in our words
    where: dict[str, Any] = {"address": address}
    if own := re.fullmatch(r"local:([1-9][0-9]{0,2})", address):
        # Without this, Dask never starts a process again that is not back 15 s after it was lost, as on a busy machine.
        stack.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": f"{_WAIT_S:.0f}s"}))
        where = {"address": stack.enter_context(_local_cluster(int(own[1]), max(1, slots // int(own[1]))))}
    elif address.endswith(".json"):
        if not Path(address).is_file():
            raise CourseError(f"--cluster: there is no file {address};  dask scheduler --scheduler-file  writes it")
        where = {"scheduler_file": address}
    elif not re.fullmatch(r"(tcp|tls|ucx|ws|wss)://\S+", address):
        raise CourseError(
            f"--cluster: {address!r} is not an address; write the scheduler's, such as tls://HOST:8786, its scheduler "
            "file, or local:2 for two processes of this machine"
        )
    try:
        client: Client = stack.enter_context(Client(**where, timeout=_CONNECT_S, set_as_default=False))
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise CourseError(f"--cluster: there is no scheduler of Dask at {address} ({_short(error)})") from None
    return client


class _NoHttp(ServerNode):
    """A node of a cluster that opens no port for its dashboard, which has no password: others use this machine, too."""

    def start_http_server(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing, so that no port is opened."""


class _Scheduler(_NoHttp, Scheduler):
    pass


class _Worker(_NoHttp, Worker):
    pass


def _local_cluster(processes: int, threads: int) -> SpecCluster:
    """Start a cluster on this machine.

    Its ports use TLS, and require a certificate that is made here and kept in memory.

    Args:
        processes: the number of workers.
        threads: the number of threads of each worker, which is how much it grades at once.
    """
    security = Security.temporary()
    node = {"host": "127.0.0.1", "protocol": "tls://", "security": security}
    more = {"nthreads": threads, "worker_class": _Worker, "silence_logs": logging.CRITICAL}
    return SpecCluster(
        scheduler={"cls": _Scheduler, "options": node},
        workers={number: {"cls": Nanny, "options": node | more} for number in range(processes)},
        security=security,
        silence_logs=logging.CRITICAL,
    )


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


# -- what runs in the cluster ------------------------------------------------------------------------------------------


def machine_facts(setup: Setup) -> dict[str, str]:
    """Return the versions and the processor of this machine, by their names.

    An example is {"Python": "3.13.1"}. Verdicts depend on these facts, so they must be the same on all machines of a
    batch.
    """
    here = describe_machine(setup, None)
    own = f"{here.grader} ({package_digest()[:12]})"
    versions = {"tensorgrade": own, "Python": here.python, "PyTorch": here.torch, "NumPy": here.numpy}
    return {**versions, "a processor of the kind": here.os.split()[-1]}


class NodePlugin(WorkerPlugin):
    """Opens a batch's lanes in a Dask worker, also in one that joins later.

    A worker that can grade gets a resource of the batch's name, one for each of its threads. Work needs one of them, so
    that other workers never get any.

    Args:
        name: the name of the batch.
        packed: the run plan, see `pack_plan`.
        expected: the facts that `machine_facts` must return there.
        local: True if the batch started the process: Ctrl-C in its terminal is then for the batch alone.
    """

    def __init__(self, name: str, packed: bytes, expected: dict[str, str], *, local: bool) -> None:
        self.name = name
        self._packed = packed
        self._expected = expected
        self._local = local

    async def setup(self, worker: Worker) -> None:
        """Open the lanes in which this worker grades, and report to the batch whether it can.

        If not, the report says why. The Dask worker stays connected then, and gets no work of the batch.
        """
        if self._local:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._worker = worker
        self._stack, self._loop = ExitStack(), asyncio.get_running_loop()
        # A fork server ends with the thread that started it, so one thread opens and closes it.
        self._thread = ThreadPoolExecutor(1, "node")
        try:
            await self._loop.run_in_executor(self._thread, self._open, Path(worker.local_directory))
        except Exception as error:  # of any kind: who started the batch reads it
            self._report_slots(str(error) if isinstance(error, GraderError) else f"{type(error).__name__}: {error}")
            return
        await worker.set_resources(**{self.name: worker.state.nthreads})
        # The scheduler looks again at work that no worker could do when a worker goes on after a pause.
        worker.status = Status.paused
        worker.status = Status.running
        self._report_slots("")

    def _open(self, place: Path) -> None:
        folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="grade-course-", dir=place)))  # mode 0700
        self._plan = plan = unpack_plan(self._packed, folder)
        mine = machine_facts(plan.setup)
        if wrong := [f"{name} {mine[name]}, expected {it}" for name, it in self._expected.items() if mine[name] != it]:
            raise StartError("it has " + "; ".join(wrong))
        slots, known = self._worker.state.nthreads, KnownMistakes(plan.setup)
        self._lanes = self._stack.enter_context(
            Runtime(plan.exercises, plan.setup, slots, hidden=(folder,), known=known)
        )
        self._lanes.collected()  # a worker that cannot confine student code is refused before it has work

    def _report_slots(self, refused: str) -> None:
        who = {"address": self._worker.contact_address, "host": socket.gethostname()}
        slots = 0 if refused else self._worker.state.nthreads
        self._worker.log_event(self.name, {**who, "slots": slots, "why": " ".join(refused.split())})

    def grade(self, sent: RemoteWork) -> RemoteResult:
        """Grade one exercise of one submission.

        Raises:
            Reschedule: no lane can be opened here any more: the scheduler sends this work, and all other works of the
                batch, to other workers.
        """
        id, submission, before = sent
        exercise = next(exercise for exercise in self._plan.exercises if exercise.id == id)
        work = Work(self._plan, exercise, submission, before.graded(exercise) if before else None)
        try:
            result = self._lanes.submit(work).result()
        except (GraderError, Cancelled, CancelledError) as error:
            # The scheduler knows before the work comes back to it, or would send it here again.
            given_up = self._give_up(str(error) or "its lanes are closed")
            asyncio.run_coroutine_threadsafe(given_up, self._loop).result()
            raise Reschedule from None
        return Outcomes.of(result.graded), result.confinement, result.starved

    async def _give_up(self, why: str) -> None:
        # In the scheduler alone: work that is here already would otherwise wait for its resource for ever.
        await self._worker.scheduler.set_resources(worker=self._worker.contact_address, resources={self.name: 0})
        self._report_slots(why)

    async def teardown(self, worker: Worker) -> None:
        """End the processes that grade in this worker, and remove its copy of the course."""
        await self._loop.run_in_executor(self._thread, self._stack.close)
        self._thread.shutdown(wait=False)


def grade_on_worker(name: str, sent: RemoteWork) -> RemoteResult:
    """Grade one exercise in the Dask worker that this function runs in.

    Args:
        name: the name of the batch, by which its `NodePlugin` is found.
        sent: the work.
    """
    plugin = get_worker().plugins[name]
    assert isinstance(plugin, NodePlugin)
    return plugin.grade(sent)


class BatchPlugin(SchedulerPlugin):
    """A scheduler plugin for one batch: works fail if two workers were lost with them, or if no worker takes them.

    When the batch has ended, even by a fault, the workers close their lanes.

    Args:
        name: the name of the batch.
        client: the id of its client.
        wait_s: the seconds for which work waits for a worker.
        local: True if the workers end with the batch, and close their lanes then.
    """

    def __init__(self, name: str, client: str, wait_s: float, *, local: bool) -> None:
        self.name = name
        self._client = client
        self._local = local
        self._limits: tuple[int, float | None] = 1, wait_s

    async def start(self, scheduler: Scheduler) -> None:
        """Set the limits of the scheduler for the works of a batch.

        One limit is how many workers may be lost with a work before it fails; the other is how long a work waits for a
        worker.
        """
        self._exchange_limits(scheduler)

    def _exchange_limits(self, scheduler: Scheduler) -> None:
        before = scheduler.allowed_failures, scheduler.no_workers_timeout
        scheduler.allowed_failures, scheduler.no_workers_timeout = self._limits
        self._limits = before

    def remove_worker(self, scheduler: Scheduler, worker: str, **_: Any) -> None:
        """Report to the batch that a worker is gone, so that its lanes do not count any more."""
        scheduler.log_event(self.name, {"address": worker, "slots": 0, "why": ""})

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        """Restore the scheduler's limits when the client of the batch has left.

        The workers close their lanes, unless they end with the batch. Other clients are ignored.
        """
        if client == self._client:
            self._exchange_limits(scheduler)
            scheduler.remove_plugin(self.name)
            if not self._local:  # a worker that is ending may no longer answer, and Dask would print a traceback
                self._goodbye = asyncio.ensure_future(self._close_lanes(scheduler))

    async def _close_lanes(self, scheduler: Scheduler) -> None:
        with suppress(OSError, ValueError):  # workers that are gone have none, nor has a batch that opened none
            await scheduler.unregister_worker_plugin(comm=None, name=self.name)
