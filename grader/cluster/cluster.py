"""A batch on a Dask cluster, which sends work to workers with lanes (see `node`) and has it done again elsewhere.

What a worker was lost with is graded by another one. What a second one is lost with is broken, and costs no points.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from distributed import Client, KilledWorker, LocalCluster
from distributed.scheduler import NoValidWorkerError, NoWorkerError

from grader.cluster.node import BatchPlugin, NodePlugin, facts, grade_here, pack
from grader.grading.grade import Sheet
from grader.grading.graded import lost, to_told
from grader.grading.work import Answer, Work
from grader.intake.origin import as_handed_in
from grader.model.errors import CourseError, StartError
from grader.sandbox.levels import Level

_CONNECT_S = 20
_WAIT_S = 300.0
"""So long a first worker is waited for, and another one where all were lost: a queue may have to start it."""

_ANSWER_S = 10.0
_AGAIN = "the same command goes on from there"


class Cluster:
    """The workers of a cluster that can grade; see `open_cluster`.

    Args:
        client: of the cluster.
        name: of the batch.
        sheet: what is graded.
        note: called with what somebody should know of a worker.
    """

    def __init__(self, client: Client, name: str, sheet: Sheet, note: Callable[[str], None]) -> None:
        self._executor = client.get_executor(pure=False, resources={name: 1})
        self._name = name
        self._exercises = {exercise.id: exercise for exercise in sheet.exercises}
        self._note = note
        self.slots_of: dict[str, int] = {}

    @property
    def slots(self) -> int:
        """How much is graded at once, by the workers that are there now."""
        return max(1, sum(list(self.slots_of.values())))

    def heard(self, event: tuple[float, dict[str, Any]]) -> None:
        """Take down how much a worker can grade at once, and why nothing, if it says so."""
        said = event[1]
        self.slots_of[said["address"]] = said["slots"]
        if said["why"]:
            self._note(f"{said['host']} ({said['address']}) is refused: {said['why']}")

    def submit(self, work: bytes) -> Future[bytes]:
        """Have it graded by the next worker that is free."""
        own: Future[bytes] = Future()
        own.set_running_or_notify_cancel()
        self._executor.submit(grade_here, self._name, work).add_done_callback(partial(self._came, own, work))
        return own

    def _came(self, own: Future[bytes], work: bytes, theirs: Future[bytes]) -> None:
        if theirs.cancelled():
            own.set_exception(StartError(f"the cluster was lost, with what it was grading; {_AGAIN}"))
        elif isinstance(error := theirs.exception(), KilledWorker):
            sent = Work.from_bytes(work)
            graded = as_handed_in(lost(self._exercises[sent.exercise], str(error)), sent.submission)
            own.set_result(Answer(to_told(graded), level="").to_json())
        elif isinstance(error, (NoWorkerError, NoValidWorkerError)):
            own.set_exception(StartError(f"all machines of the cluster were lost or refused; {_AGAIN}"))
        elif error is not None:
            own.set_exception(error)
        else:
            own.set_result(theirs.result())


@contextmanager
def open_cluster(address: str, sheet: Sheet, slots: int, note: Callable[[str], None]) -> Iterator[Cluster]:
    """The workers of a cluster, each with the course and lanes of its own.

    Args:
        address: as on the command line: a scheduler's address, its file, or local:N.
        sheet: what is graded, and how.
        slots: how much is graded at once, where the cluster is made here.
        note: called with what somebody should know of a worker.

    Raises:
        CourseError: there is no such cluster, or none of its workers can grade.
    """
    if sheet.setup.least is Level.NONE:
        raise CourseError(
            "--cluster needs a sandbox: student code that reached the network could command the cluster; leave out "
            "--confinement none and --device cuda"
        )
    for logger in ("distributed", "distributed.client", "distributed.scheduler", "distributed.nanny"):
        logging.getLogger(logger).setLevel(logging.CRITICAL)  # what matters of it is said in our words
    with ExitStack() as stack:
        client = _connect(address, slots, stack)
        where = str(client.scheduler_info(n_workers=0)["address"])
        if not where.startswith(("tls://", "wss://")):
            note(f"{where} is open: whoever reaches it can read hidden checks and change grades; use tls://")
        if not client.nthreads():
            note(f"{address} has no machine yet; the first is waited for")
        try:
            client.wait_for_workers(1, timeout=_WAIT_S)
        except TimeoutError:
            raise CourseError(f"--cluster: {address} has no machine after {_WAIT_S:.0f} s") from None
        name = f"grade-{client.id}"
        try:
            client.register_plugin(BatchPlugin(name, client.id, _WAIT_S))
        except (ImportError, AttributeError) as error:
            raise CourseError(
                f"--cluster: the scheduler of {address} cannot import this version of tensorgrade ({error}); install "
                "tensorgrade[cluster] where it runs"
            ) from None
        cluster = Cluster(client, name, sheet, note)
        client.subscribe_topic(name, cluster.heard)
        problem = "it did not answer"
        try:
            client.register_plugin(NodePlugin(name, pack(sheet), facts(sheet.setup), local="local:" in address))
        except Exception as error:  # of one worker, of any kind; the others go on
            problem = f"tensorgrade cannot be used there ({_short(error)}); install the version that is here"
        until = time.monotonic() + _ANSWER_S
        while (silent := client.nthreads().keys() - cluster.slots_of.keys()) and time.monotonic() < until:
            time.sleep(0.05)
        for worker in silent:
            note(f"{worker} is refused: {problem}")
        if not any(cluster.slots_of.values()):
            raise CourseError("no machine of the cluster can grade this: fix what is said above")
        yield cluster


def _connect(address: str, slots: int, stack: ExitStack) -> Client:
    where: dict[str, Any] = {"address": address}
    if own := re.fullmatch(r"local:([1-9][0-9]{0,2})", address):
        count = int(own[1])
        where["address"] = stack.enter_context(
            LocalCluster(
                n_workers=count,
                threads_per_worker=max(1, slots // count),
                processes=True,
                dashboard_address=None,
                security=True,  # other users of this machine can reach its ports
                silence_logs=logging.CRITICAL,
            )
        )
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


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
