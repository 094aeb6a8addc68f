"""Calls with our clock around them. Nothing that student code says or does to its own clock is used.

A timed call has two steps. `prepare` sends the arguments without their numbers: the worker maps shared memory, whose
pages are present, and has tensors of the right shape. Then the clock is read, the numbers are written into that memory,
and `go` is sent, with whatever else the arguments hold. The clock is read again once the last byte of the reply is
here, which holds a copy of the result. So a thread cannot begin early, since the numbers are not there; a lazy result
is computed within the time; and CPU time counts every thread.

The clock is the CPU clock of the worker's process, read from outside. Work that is put off until after the reply is
counted too: the clock is read once more before the next call. What it does not see is sleep, and work in other
processes. So the time is kept, too, in which the worker neither ran nor was ready to run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from grader.model import Device, Verdict
from grader.model.endings import WorkerLost
from grader.process import clock
from grader.remote.student import RemoteFunction
from grader.wire.exchange import Exchange
from grader.wire.frames import ProtocolFault
from grader.wire.outgoing import Outgoing
from grader.wire.requests import Asked, Go, Prepare
from grader.wire.rows import ArrayRow, TensorRow, Told
from grader.wire.shared import make_to_map

_ALIGNMENT = 64
_PREPARE_S = 10.0


@dataclass
class Timing:
    """What one call took.

    Attributes:
        cpu_s: CPU seconds of the worker's process, all threads; wall seconds where that clock cannot be read.
        wall_s: seconds by the clock on the wall; no verdict hangs on them.
        away_s: of these, the seconds in which the worker neither ran nor was ready to run; 0 where that is not known.
        result: a copy of what came back.
    """

    cpu_s: float
    wall_s: float
    away_s: float
    result: Any


class Inputs:
    """The arguments of a timed call, written once and sent to several workers.

    Args:
        args: tensors, arrays and plain values.
        in_place: whether the arguments are what counts afterwards; they then come back beside the result.

    Raises:
        Unsupported: one of them cannot be handed over.
    """

    def __init__(self, args: Sequence[Any], *, in_place: bool = False) -> None:
        out = Outgoing(Exchange(asks=True))
        values = [out.value(arg) for arg in args]
        told, self.data = out.tell()
        self.starts = _aligned([len(part) for part in self.data])
        self.size = self.starts.pop()
        blocks = [row._replace(start=start) for row, start in zip(told.blocks, self.starts, strict=True)]
        leaves = [new for new in told.new if isinstance(new.row, (TensorRow, ArrayRow))]
        rest = [new for new in told.new if not isinstance(new.row, (TensorRow, ArrayRow))]
        self.args = values
        self.in_place = in_place
        self.shapes = Asked(Prepare(), Told(leaves, [], blocks).plain(asks=True))
        self.rest = Told(rest, [], []).plain(asks=True)
        self.places = {str(row.number): row.start for row in blocks}

    def go(self, function: list[Any], *, inline: bool) -> Asked:
        """The request for the call that was prepared.

        Args:
            function: what is called, by its name on the wire.
            inline: whether the numbers come along; else they are in shared memory.
        """
        return Asked(Go(function, self.args, self.in_place, self.places if inline else {}), self.rest)

    def whole(self) -> bytes:
        """All numbers in one piece."""
        whole = bytearray(self.size)
        for start, part in zip(self.starts, self.data, strict=True):
            whole[start : start + len(part)] = part
        return bytes(whole)


class TimedSide:
    """One side of a comparison, in a fresh worker. Close it.

    Args:
        function: what is called, of the student's or the reference's.
    """

    def __init__(self, function: RemoteFunction) -> None:
        if function.side.device is Device.CUDA:  # the CPU clock does not see it, nor does its memory come in time
            pytest.skip("calls are timed on the CPU and on a simulated accelerator, not on CUDA")
        self._name = function.wire_name
        self._what = function.what
        self._side = function.side.fresh()
        self._last: Timing | None = None
        self._reply_cpu = 0.0

    def call(self, inputs: Inputs, seconds: float | None = None, *, idle: bool = False) -> Timing:
        """Time one call.

        Args:
            inputs: its arguments.
            seconds: CPU seconds that it may take, if not the exercise's own limit.
            idle: do not call the function, give back the last argument: what asking and answering costs.

        Raises:
            WorkerLost: there was no reply.
            CannotJudge: the module does not load, or the result cannot be handed over.
        """
        with self._side.not_counted():  # starting a worker is not the check's own time either
            self._side.names()
            return self._timed(inputs, seconds or self._side.sitting.limits.call_s, idle=idle)

    def add_late_work(self) -> None:
        """Add what the worker did since its last reply to that call. What it does later is added to the next one."""
        if self._last is not None:
            self._last.cpu_s += self._late()

    def _late(self) -> float:
        """CPU seconds since the last reply, or since this was asked last."""
        now = self._cpu()
        late, self._reply_cpu = now - self._reply_cpu, now
        return late if self._last is not None else 0.0

    def _timed(self, inputs: Inputs, seconds: float, *, idle: bool) -> Timing:
        sitting, what = self._side.sitting, self._what
        late = self._late()
        worker = sitting.live_worker()
        function = ["named", "probe:", "last"] if idle else self._name
        descriptor = make_to_map("inputs", inputs.size) if worker.channel.shares_memory and inputs.size else None
        go = inputs.go(function, inline=descriptor is None)
        try:
            if descriptor is None:
                sitting.ask(inputs.shapes, [bytes(inputs.size)], _PREPARE_S, what)
                parts = [inputs.whole()]
                cpu, away, wall = self._cpu(), self._away(), time.perf_counter()
            else:
                sitting.ask(inputs.shapes, [], _PREPARE_S, what, (descriptor, inputs.size))
                parts = []
                cpu, away, wall = self._cpu(), self._away(), time.perf_counter()
                for start, part in zip(inputs.starts, inputs.data, strict=True):
                    os.pwrite(descriptor, part, start)
            frame = sitting.ask(go, parts, seconds, what)
            self._reply_cpu, away_after, wall_after = self._cpu(), self._away(), time.perf_counter()
        finally:
            if descriptor is not None:
                os.close(descriptor)
        try:
            result = self._side.read(frame, what, self._table())
        except ProtocolFault as fault:
            lost = WorkerLost(Verdict.CRASHED, f"{what} gave the grader something it cannot take ({fault})")
            sitting.lose(lost)
            raise lost from None
        took_s = late + self._reply_cpu - cpu
        self._last = Timing(took_s, wall_after - wall, max(0.0, away_after - away), result)
        return self._last

    def _table(self) -> Exchange:
        return Exchange(asks=True, make_handle=self._side.remote_object)

    def _cpu(self) -> float:
        worker = self._side.sitting.worker
        used = worker.cpu_s() if worker is not None else None
        return time.perf_counter() if used is None else used

    def _away(self) -> float:
        """Seconds of the wall, without those in which the worker ran or waited for a core, or we waited for one."""
        worker = self._side.sitting.worker
        waited = None if worker is None else worker.waited_s()
        ours = clock.waited_s(os.getpid())
        return 0.0 if waited is None or ours is None else time.perf_counter() - self._cpu() - waited - ours

    def has_cpu_clock(self) -> bool:
        """Whether the CPU clock of the worker can be read from outside."""
        return self._side.sitting.live_worker().cpu_s() is not None

    def resident(self) -> tuple[int, int] | None:
        """Bytes of memory that the worker has now, and the most that it ever had; None where that cannot be read."""
        return self._side.sitting.live_worker().resident()

    def close(self) -> None:
        """End the worker."""
        self._side.sitting.close()


def _aligned(sizes: Sequence[int]) -> list[int]:
    """Where parts of these sizes begin, aligned as PyTorch aligns its own memory, and the size of all."""
    starts, end = [], 0
    for size in sizes:
        starts.append(end)
        end += -(-size // _ALIGNMENT) * _ALIGNMENT
    return [*starts, end]
