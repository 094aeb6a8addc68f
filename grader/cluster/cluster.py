"""A Dask cluster as an engine: the batch hands it work as it does to lanes of its own machine.

Work goes to machines that have a station for this batch (`cluster_worker`). What a lost machine was at is graded by
another one, which Dask sees to; what loses a second one is broken, by nobody's fault.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from distributed import Client, KilledWorker, LocalCluster, Scheduler

from grader.cluster.address import Address
from grader.cluster.cluster_worker import StationPlugin, grade_there
from grader.cluster.machine import Machine, asked_of, this_machine
from grader.cluster.parcel import Parcel, digest_of
from grader.cluster.pending import Pending
from grader.grading.grade import Sheet
from grader.model.errors import CourseError, StartError
from grader.model.messages import Setup

LOST_ONCE = 1
"""So many machines may be lost with one piece of work in hand, before it is broken."""

_CONNECT_S = 20
_PATIENCE_S = 300.0
"""So long a first machine is waited for, and another one where all were lost: a queue may have to start it."""

_LOOK_S = 1.0
_HEAR_S = 180.0
_LISTEN_S = 0.1
_LONGEST = 200
_GOODBYE_S = 30.0

_SAFE = ("tls://", "wss://")

Note = Callable[[str], None]
"""Told what somebody should know of a machine."""


class Cluster:
    """Machines of a cluster; see `open_cluster`.

    Args:
        client: of the cluster.
        name: of the parcel.
        sheet: what is graded.
        note: told which machines are refused.
    """

    def __init__(self, client: Client, name: str, sheet: Sheet, note: Note) -> None:
        self._client = client
        self._note = note
        self._slots: dict[str, int] = {}
        self.refused: dict[str, str] = {}
        self._alone_since: float | None = None
        self._ended = threading.Event()
        executor = client.get_executor(pure=False, resources={name: 1})
        exercises = {exercise.id: exercise for exercise in sheet.exercises}
        send = partial(executor.submit, grade_there, name)
        self._pending = Pending(send, lambda error: isinstance(error, KilledWorker), exercises)
        self._thread = threading.Thread(target=self._watch, name="cluster", daemon=True)

    @property
    def slots(self) -> int:
        """How much is done at once, on the machines that are there just now."""
        return max(1, sum(list(self._slots.values())))

    def submit(self, work: bytes) -> Future[bytes]:
        """Have it done by a machine that is free."""
        return self._pending.submit(work)

    def heard(self, event: tuple[float, Mapping[str, Any]]) -> None:
        """What a machine's station told: that it can work, or why not."""
        told = event[1]
        address = told["address"]
        if not told["refused"]:
            self._slots[address] = told["slots"]
            return
        self._slots.pop(address, None)
        if address not in self.refused:
            self.refused[address] = f"{told['host']} ({address}) is refused: {told['refused']}"
            self._note(self.refused[address])

    def begin(self, wrong: Mapping[str, str], register: Callable[[], object]) -> None:
        """Have stations opened, and wait until each machine that is there has told how that went.

        Args:
            wrong: by address, why a machine can tell nothing.
            register: has them opened.

        Raises:
            CourseError: none can work.
        """
        for address, why in wrong.items():
            self.heard((0.0, {"address": address, "host": "a machine", "refused": why}))
        failed = ""
        try:
            register()
        except Exception as error:  # of one machine, whatever it is; the others go on, and tell
            failed = f"a machine did not answer as it should: {' '.join(str(error).split())[:_LONGEST]}"
        until = time.monotonic() + _HEAR_S
        while self._client.nthreads().keys() - self._slots.keys() - self.refused.keys() and time.monotonic() < until:
            time.sleep(_LISTEN_S)
        if not self._slots:
            why = "mend what is told above" if self.refused else failed or "none of them has told whether it can"
            raise CourseError(f"no machine of the cluster can grade this: {why}")
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_S):
            with suppress(OSError, TimeoutError):  # where the scheduler itself is lost, the futures tell
                self.look(self._client.nthreads())

    def look(self, there: Mapping[str, int]) -> None:
        """Take notice of the machines that are there, by address."""
        for address in list(self._slots.keys() - there.keys()):
            del self._slots[address]
        if self._slots:
            if self._alone_since is not None:
                # The scheduler does not look again at what no machine could do when a station opens.
                self._pending.send_again()
            self._alone_since = None
            return
        self._alone_since = self._alone_since or time.monotonic()
        all_refused = bool(there) and there.keys() <= self.refused.keys()
        if len(self._pending) and (all_refused or time.monotonic() - self._alone_since > _PATIENCE_S):
            why = "all of its machines were refused" if all_refused else "all of its machines were lost"
            text = f"no machine of the cluster is left: {why}; the same command goes on from there"
            self._pending.fail(StartError(text))

    def close(self) -> None:
        """Nobody waits for anything any more."""
        self._ended.set()
        self._pending.fail()
        if self._thread.is_alive():
            self._thread.join(_GOODBYE_S)


@contextmanager
def open_cluster(address: Address, sheet: Sheet, slots: int, note: Note) -> Iterator[Cluster]:
    """The machines of a cluster, each with the course and lanes of its own.

    Args:
        address: of the cluster.
        sheet: what is graded, and how.
        slots: how much is done at once, where the cluster is made here.
        note: told what somebody should know of the machines.

    Raises:
        CourseError: there is no such cluster, or none of its machines can do the work.
    """
    with ExitStack() as stack:
        client = _client(address, slots, stack)
        where = str(client.scheduler_info()["address"])
        if not where.startswith(_SAFE):
            note(f"{where} is open: whoever reaches it can read hidden checks and change grades; use tls://")
        _wait_for_one(client, address, note)
        _allow(client, address, stack)
        machines, wrong = _examined(client, sheet.setup)
        asked = asked_of(this_machine(sheet.setup), machines)
        sent = Parcel.of(sheet).to_bytes()
        name = f"grade-{digest_of(sent)}"
        cluster = Cluster(client, name, sheet, note)
        client.subscribe_topic(name, cluster.heard)
        stack.callback(_in_time, lambda: client.unregister_worker_plugin(name))
        stack.callback(cluster.close)
        plugin = StationPlugin(name, sent, asked, of_own=bool(address.machines))
        cluster.begin(wrong, lambda: client.register_plugin(plugin, name))
        yield cluster


def _client(address: Address, slots: int, stack: ExitStack) -> Client:
    for name in ("distributed", "distributed.client", "distributed.scheduler", "distributed.nanny"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters of it is told in our words
    if address.machines:
        threads = max(1, slots // address.machines)
        made = LocalCluster(
            n_workers=address.machines,
            threads_per_worker=threads,
            processes=True,
            dashboard_address=None,
            security=True,  # other users of this machine can reach its ports
            silence_logs=logging.CRITICAL,
        )
        stack.enter_context(made)
        of_own: Client = stack.enter_context(Client(made, set_as_default=False))
        return of_own
    where = {"scheduler_file": address.text} if address.is_file else {"address": address.text}
    try:
        found: Client = stack.enter_context(Client(**where, timeout=_CONNECT_S, set_as_default=False))
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise CourseError(
            f"--cluster: there is no scheduler of Dask at {address.text} ({' '.join(str(error).split())[:_LONGEST]})"
        ) from None
    return found


def _wait_for_one(client: Client, address: Address, note: Note) -> None:
    if client.nthreads():
        return
    note(f"{address.text} has no machine yet; the first is waited for")
    try:
        client.wait_for_workers(1, timeout=_PATIENCE_S)
    except TimeoutError:
        raise CourseError(f"--cluster: {address.text} has no machine after {_PATIENCE_S:.0f} s") from None


def _allow(client: Client, address: Address, stack: ExitStack) -> None:
    """Have what a lost machine was at graded by another one, once; afterwards the scheduler is as it was."""
    try:
        before = client.run_on_scheduler(allow_failures, LOST_ONCE)
    except (ImportError, AttributeError) as error:
        raise CourseError(
            f"--cluster: the scheduler of {address.text} cannot import this version of tensorgrade ({error}); install "
            "tensorgrade[cluster] where it runs"
        ) from None
    stack.callback(_in_time, lambda: client.run_on_scheduler(allow_failures, before))


def allow_failures(count: int, dask_scheduler: Scheduler) -> int:
    """Set how many machines may be lost with a piece of work, and give what it was; this runs in the scheduler."""
    before = dask_scheduler.allowed_failures
    dask_scheduler.allowed_failures = count
    return before


def _examined(client: Client, setup: Setup) -> tuple[list[Machine], dict[str, str]]:
    """What the machines have that are there now, and, by address, why some cannot tell."""
    told = client.run(this_machine, replace(setup, secret=b""), on_error="return")
    wrong = {
        address: f"tensorgrade cannot be used there ({machine}); install the version that is here"
        for address, machine in told.items()
        if not isinstance(machine, Machine)
    }
    return [machine for machine in told.values() if isinstance(machine, Machine)], wrong


def _in_time(goodbye: Callable[[], object]) -> None:
    """Say goodbye to machines; one that does not answer is not waited for."""

    def say() -> None:
        with suppress(Exception):  # whoever is gone needs none
            goodbye()

    thread = threading.Thread(target=say, name="goodbye", daemon=True)
    thread.start()
    thread.join(_GOODBYE_S)
