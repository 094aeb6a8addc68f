"""Calls with our clock around them. Nothing that student code says or does to its own clock is used.

A short call is timed together with others of the same function, each with arguments of its own: a cold cache is ten
times the work of a call of 50 microseconds, and little beside forty of them.

Timed calls have two steps. `prepare` sends the arguments without their numbers: the worker maps shared memory, whose
pages are present, and has tensors of the right shape. Then the clock is read, the numbers are written into that memory,
and `go` is sent, with whatever else the arguments hold. The clock is read again once the last byte of the answer is
here, which holds a copy of each result. So a thread cannot begin early, since the numbers are not there; a lazy result
is computed within the time; and CPU time counts every thread.

The clock is the CPU clock of the worker's process, read from outside. Work that is put off until after the reply is
counted too: the clock is read once more before the next call. What it does not see is sleep, and work in other
processes. So the time is kept, too, in which the worker neither ran nor was ready to run. What else can be seen from
outside is what made it slow: memory that was used first, and other programs on its core.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from grader.model import Device, Verdict
from grader.model.endings import WorkerLost
from grader.model.public import say
from grader.process import clock
from grader.remote.handle import Handle, side_of, what_of
from grader.wire.exchange import Exchange
from grader.wire.frames import Frame, ProtocolFault
from grader.wire.handles import origin_of
from grader.wire.outgoing import Outgoing
from grader.wire.requests import Asked, Go, Prepare, Replies
from grader.wire.rows import ArrayRow, TensorRow, Told
from grader.wire.shared import make_to_map

_ALIGNMENT = 64
_WEIGHT_OF_TEXT = 32  # a message may hold that much less of its tree than of memory, by length
_PREPARE_S = 10.0


@dataclass
class Timing:
    """What the calls of one request took, together.

    Attributes:
        cpu_s: CPU seconds of the worker's process, all threads; wall seconds where that clock cannot be read.
        wall_s: seconds by the clock on the wall; no verdict hangs on them.
        away_s: of these, the seconds in which the worker neither ran nor was ready to run; 0 where that is not known.
        results: a copy of what came back from each.
        weight: of the answer, as `Inputs.weight`.
        disturbances: what may have made them slow; None where that is not known.
    """

    cpu_s: float
    wall_s: float
    away_s: float
    results: list[Any]
    weight: int = 0
    disturbances: clock.Disturbances | None = None

    @property
    def result(self) -> Any:
        """What came back from the only call, or the first."""
        return self.results[0]


class _Look(NamedTuple):
    """What the clocks said at one moment."""

    cpu: float
    away: float
    wall: float


class Inputs:
    """The arguments of timed calls, written once and sent to several workers.

    Args:
        calls: for each call its arguments: tensors, arrays and plain values.
        in_place: whether the arguments are what counts afterwards; they then come back beside the result.

    Attributes:
        apart: whether it is plain that no two arguments share memory: what one call writes, no other one sees.

    Raises:
        Unsupported: one of them cannot be handed over.
    """

    def __init__(self, *calls: Sequence[Any], in_place: bool = False) -> None:
        out = Outgoing(Exchange(asks=True))
        values = [[out.value(arg) for arg in args] for args in calls]
        told, self.data = out.tell()
        self.starts = _aligned([len(part) for part in self.data])
        self.size = self.starts.pop()
        blocks = [row._replace(start=start) for row, start in zip(told.blocks, self.starts, strict=True)]
        leaves = [new for new in told.new if isinstance(new.row, (TensorRow, ArrayRow))]
        rest = [new for new in told.new if not isinstance(new.row, (TensorRow, ArrayRow))]
        self.calls = values
        self.in_place = in_place
        references = sum(isinstance(value, list) and value[0] == "known" for args in values for value in args)
        self.apart = not rest and references == len(leaves) == len(told.blocks)
        self.shapes = Asked(Prepare(), Told(leaves, [], blocks).plain(asks=True))
        self.rest = Told(rest, [], []).plain(asks=True)
        self.places = {str(row.number): row.start for row in blocks}

    @property
    def weight(self) -> int:
        """Roughly how much of a message this fills, in bytes of its memory."""
        return _weight(self.size, [self.shapes.objects, self.rest])

    def go(self, function: list[Any], *, inline: bool) -> Asked:
        """The request for the calls that were prepared.

        Args:
            function: what is called, by its name on the wire.
            inline: whether the numbers come along; else they are in shared memory.
        """
        return Asked(Go(function, self.calls, self.in_place, self.places if inline else {}), self.rest)

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

    Attributes:
        left_out_s: wall seconds in which the module loaded, or a call slept: the machine is not to blame for them.
    """

    def __init__(self, function: Handle) -> None:
        if side_of(function).device is Device.CUDA:  # the CPU clock does not see it, nor does its memory come in time
            pytest.skip(say("calls are timed on the CPU and on a simulated accelerator, not on CUDA"))
        self._name = _name_in_fresh(function)
        self._what = what_of(function)
        self.left_out_s = 0.0
        self._side = side_of(function).fresh(function)
        self._last: Timing | None = None
        self._reply_cpu = 0.0

    def call(self, inputs: Inputs, seconds: float | None = None, *, idle: bool = False) -> Timing:
        """Time the calls that the inputs are for.

        Args:
            inputs: their arguments.
            seconds: CPU seconds that they may take together, if not the exercise's own limit for one.
            idle: do not call the function, give back the last argument: what asking and answering costs.

        Raises:
            WorkerLost: there was no reply.
            CannotJudge: the module does not load, or the result cannot be handed over.
        """
        with self._side.not_counted():  # starting a worker is not the check's own time either
            started = time.monotonic()
            try:
                self._side.ready()
            finally:
                self.left_out_s += time.monotonic() - started
            with self._side.sitting.alone():
                return self._timed(inputs, seconds or self._side.sitting.limits.call_s, idle=idle)

    def add_late_work(self) -> None:
        """Add what the worker did since its last answer to those calls. What it does later is added to the next one."""
        if self._last is not None:
            self._last.cpu_s += self._late()

    def _late(self) -> float:
        """CPU seconds since the last answer, or since this was asked last."""
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
        asked = time.monotonic()
        try:
            if descriptor is None:
                sitting.ask(inputs.shapes, [bytes(inputs.size)], _PREPARE_S, what)
            else:
                sitting.ask(inputs.shapes, [], _PREPARE_S, what, (descriptor, inputs.size))
            parts = [inputs.whole()] if descriptor is None else []
            disturbed, before = worker.disturbances(), self._look()
            if descriptor is not None:
                for start, part in zip(inputs.starts, inputs.data, strict=True):
                    os.pwrite(descriptor, part, start)
            frame = sitting.ask(go, parts, seconds, what)
            after = self._look()
            self._reply_cpu = after.cpu
        except WorkerLost:
            # Its clocks are gone with it. What it took beyond its CPU seconds, it slept, or waited for a core.
            self.left_out_s += max(0.0, time.monotonic() - asked - seconds)
            raise
        finally:
            if descriptor is not None:
                os.close(descriptor)
        now = worker.disturbances()
        away_s = max(0.0, after.away - before.away)
        self.left_out_s += away_s
        self._last = Timing(
            late + after.cpu - before.cpu,
            after.wall - before.wall,
            away_s,
            self._results(frame, len(inputs.calls)),
            _weight(len(frame.data), frame.tree),
            None if disturbed is None or now is None else now.since(disturbed),
        )
        return self._last

    def _results(self, frame: Frame, count: int) -> list[Any]:
        """What each call gave; the first that raised is raised here."""
        what, results = self._what, []
        try:
            for tree, start, end in Replies.parts(frame.tree, len(frame.data)):
                table = Exchange(asks=True, make_handle=self._side.handle)
                results.append(self._side.read(Frame(frame.number, dict(tree), frame.data[start:end]), what, table))
            if len(results) != count:
                raise ProtocolFault("another number of replies than of calls")
        except ProtocolFault as fault:
            lost = WorkerLost(Verdict.CRASHED, say("{} gave the grader something it cannot take", what), fault)
            self._side.sitting.lose(lost)
            raise lost from None
        return results

    def _look(self) -> _Look:
        return _Look(self._cpu(), self._away(), time.perf_counter())

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


def _name_in_fresh(function: Handle) -> list[Any]:
    """What a function, or an object that can be called, is named in a worker of `Side.fresh`."""
    if (name := origin_of(function).name) is not None:
        return list(name)
    side = side_of(function)
    number = side.exchange.number_of(function)
    if number is None or not side.journal.is_whole():
        raise RuntimeError("an object cannot be made again in a fresh worker; make it in a check of its own")
    return ["named", "object", str(number)]


def _aligned(sizes: Sequence[int]) -> list[int]:
    """Where parts of these sizes begin, aligned as PyTorch aligns its own memory, and the size of all."""
    starts, end = [], 0
    for size in sizes:
        starts.append(end)
        end += -(-size // _ALIGNMENT) * _ALIGNMENT
    return [*starts, end]


def _weight(size: int, tree: object) -> int:
    return size + _WEIGHT_OF_TEXT * len(repr(tree))
