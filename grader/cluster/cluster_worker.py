"""What runs in a worker of a Dask cluster: it opens a station there, and hands it work. No student code runs in it."""

from __future__ import annotations

import asyncio
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from distributed import Reschedule, Worker, get_worker
from distributed.diagnostics.plugin import WorkerPlugin

from grader.cluster.machine import Machine
from grader.cluster.station import Station, told
from grader.model.errors import GraderError

IDLE_S = 900.0
"""A batch that was killed says goodbye to nobody: a machine without work for so long gives everything back."""

_LOOK_S = 30.0
_TELL_S = 60.0


class StationPlugin(WorkerPlugin):
    """Opens a station on each machine of a cluster, also on those that come later.

    A machine that is what is asked for gets a resource of the parcel's name, as much of it as it has threads. Work asks
    for one of them, so that no other machine ever gets any.

    Args:
        name: of the parcel: its digest.
        sent: the parcel.
        asked: what is asked of machines.
        of_own: whether the processes of the cluster are the batch's own: Ctrl-C in its terminal reaches them as well,
            and is for the batch alone.
    """

    def __init__(self, name: str, sent: bytes, asked: Machine, *, of_own: bool) -> None:
        self.name = name
        self._sent = sent
        self._asked = asked
        self._of_own = of_own

    async def setup(self, worker: Worker) -> None:
        """Open the station, and tell whether that went well; whatever keeps it from that, the machine stays usable."""
        if self._of_own:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._worker = worker
        self._slots = worker.state.nthreads
        self._station = Station(self._sent, self._asked, self._slots, Path(worker.local_directory))
        # Worker servers end with the thread that started them, so there is one that lives as long as they do.
        self._thread = ThreadPoolExecutor(1, "station")
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._station.open)
        except GraderError as error:
            self._tell(told(error))
            return
        except Exception as error:  # whatever it is: it is told where somebody reads it
            self._tell(f"{type(error).__name__}: {error}")
            return
        await worker.set_resources(**{self.name: self._slots})
        self._tell("")
        self._idle = asyncio.create_task(self._wait_for_idleness())

    def _tell(self, refused: str) -> None:
        who = {"address": self._worker.contact_address, "host": socket.gethostname()}
        self._worker.log_event(self.name, {**who, "slots": self._slots, "refused": refused})

    def grade(self, work: bytes) -> bytes:
        """Grade one exercise of one submission, in a thread of the cluster's; where that fails, it goes elsewhere."""
        try:
            return self._station.grade(work)
        except GraderError as error:
            # Known to the scheduler before the work comes back to it, or it would be sent here again.
            loop: Any = self._worker.loop
            asyncio.run_coroutine_threadsafe(self._give_up(told(error)), loop.asyncio_loop).result(_TELL_S)
            raise Reschedule from None

    async def _give_up(self, why: str) -> None:
        """Get no more work. What is here already keeps its resource, as it would wait for ever without one."""
        await self._worker.scheduler.set_resources(worker=self._worker.contact_address, resources={self.name: 0})
        self._tell(why)

    async def _wait_for_idleness(self) -> None:
        while self._station.idle_s < IDLE_S:
            await asyncio.sleep(_LOOK_S)
        await self._give_up(f"it had no work for {IDLE_S / 60:.0f} minutes")
        await self._close()

    async def teardown(self, worker: Worker) -> None:
        """End what was opened."""
        if idle := getattr(self, "_idle", None):
            idle.cancel()
        await self._close()

    async def _close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._station.close)
        self._thread.shutdown(wait=False)


def grade_there(name: str, work: bytes) -> bytes:
    """Have work done by the station of that name, on whichever machine this runs."""
    plugin = get_worker().plugins[name]
    assert isinstance(plugin, StationPlugin)
    return plugin.grade(work)
