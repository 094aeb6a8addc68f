"""Calls with our clock around them, in a fresh worker. Nothing that student code says or does to its own clock matters.

A short call is timed together with others of the same function, each with arguments of its own: a cold cache costs ten
times as much as a call of 50 microseconds, and little beside forty of them.

Timed calls have two steps. `prepare` sends the arguments without their numbers: the worker maps shared memory, whose
pages are present, and makes tensors of the right shape. Then the clock is read, the numbers are written into that
memory, and `go` is sent. The clock is read again once the last byte of the reply has arrived, which holds a copy of
each result. So a thread cannot begin early, since the numbers are not there; a lazy result is computed within the time;
and CPU time counts every thread.

The clock is the CPU clock of the worker's process, read from outside. Work that is put off until after the reply is
counted, too: the clock is read once more before the next call. The clock does not see sleep, nor work in other
processes, so the time is noted, too, in which the worker neither ran nor was ready to run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from grader.connection.connection import Proxy, connection_of, owned_name_of, target_of
from grader.connection.record import Record
from grader.model import DeviceKind
from grader.model.endings import WorkerLost
from grader.model.public_text import say
from grader.sandbox import clock
from grader.wire.containers import PlainEncoder
from grader.wire.encode import Encoder
from grader.wire.frames import Frame, ProtocolError, Unsupported, expect, unpack_messages
from grader.wire.table import ObjectTable, block_offsets, padded_blocks
from grader.wire.transport import create_shared_memory

_PREPARE_S = 10.0


@dataclass
class Timing:
    """The time that the calls of one request took, together.

    Attributes:
        cpu_s: CPU seconds of the worker's process, all threads; wall seconds if that clock cannot be read.
        asleep_s: seconds in which the worker neither ran nor was ready to run; 0 if that is not known.
        results: a copy of what came back from each.
        weight: bytes of the reply.
        disturbances: the events that may have made them slow; None if they are not known.
    """

    cpu_s: float
    asleep_s: float
    results: list[Any]
    weight: int
    disturbances: clock.Disturbances | None = None


class _Clocks(NamedTuple):
    """The clocks at one moment."""

    cpu: float
    asleep: float


class Inputs:
    """The arguments of timed calls, encoded once and sent to several workers.

    Args:
        calls: the arguments of each call: tensors, arrays and plain values.
        in_place: True if the arguments are compared afterwards; they then come back beside the result.
        without_torch: True if the workers have the standard library alone, so that only plain values can be sent.

    Attributes:
        weight: bytes of the message.

    Raises:
        Unsupported: an argument cannot be sent.
    """

    def __init__(self, *calls: Sequence[Any], in_place: bool = False, without_torch: bool = False) -> None:
        encoder = PlainEncoder if without_torch else Encoder
        self.tree, blocks = encoder(ObjectTable(), _refuse).encode([tuple(args) for args in calls])
        self.starts = block_offsets([len(block) for block in blocks])
        self.size = self.starts.pop()
        self.blocks, self.in_place, self.count = blocks, in_place, len(calls)
        self.weight = self.size + len(repr(self.tree["rows"]))


class TimedWorker:
    """A fresh worker in which one function is timed. Close it.

    Args:
        function: a function of the student's or the reference's, by name.

    Attributes:
        left_out_s: wall seconds in which the module loaded, or a call slept: the machine is not to blame for them.
        slept_s: seconds for which a call that was stopped neither ran nor was ready to run; 0 if that is not known.
    """

    def __init__(self, function: Proxy) -> None:
        target = target_of(function)
        if target.child[0] != "name":
            raise Unsupported(f"`{target.word}` cannot be timed: time a function of the module, by its name")
        if connection_of(function).device is DeviceKind.CUDA:  # the CPU clock does not see its work
            pytest.skip(say("calls are timed on the CPU and on a simulated accelerator, not on CUDA"))
        self._child = list(target.child)
        self._what = owned_name_of(function)
        self.connection = connection_of(function).with_new_worker()
        self.left_out_s = self.slept_s = 0.0
        self._mapped: int | None = None
        self._last: Timing | None = None
        self._reply_cpu = 0.0

    def call(self, inputs: Inputs, seconds: float | None = None, *, idle: bool = False) -> Timing:
        """Call the function once for each of the inputs, and time these calls together.

        Args:
            inputs: the arguments of the calls.
            seconds: the CPU seconds that the calls may take together; by default the exercise's limit for one call.
            idle: True if the worker only returns the last argument, to measure what a request and its reply cost.

        Raises:
            WorkerLost: there was no reply.
            NotUsable: the module does not load.
            CheckFailed: a result cannot be sent.
        """
        connection = self.connection
        wait = connection.starter.waiting(student=not connection.secret)
        with wait, connection.exclusive(), self._prepare_call(inputs):
            return self._time_request(inputs, seconds or connection.limits.call_s, idle=idle)

    def memory_around_call(self, inputs: Inputs) -> tuple[clock.MemoryUse, clock.MemoryUse, Any] | None:
        """Measure the memory of the worker's process before and after one call.

        Return both, and the result of the call. Return None if the system does not show the memory. The arguments are
        resident before, and the result is sent afterwards.
        """
        with self._prepare_call(inputs, return_freed_memory=True):
            worker, seconds = self.connection.live_worker(), self.connection.limits.call_s
            pid = worker.pid
            worker.reset_peak()
            before = clock.memory(pid)
            self._request(self._message(inputs, self._child, hold=True), self._write_inputs(inputs), seconds)
            after = clock.memory(pid)
            (result,) = self._results(self._request({"do": "results"}, [], seconds), 1)
        return None if before is None or after is None else (before, after, result)

    @contextmanager
    def _prepare_call(self, inputs: Inputs, *, return_freed_memory: bool = False) -> Iterator[None]:
        """Load the module, and send arguments full of zeros, so that a call cannot begin early.

        In the `with` block, when the time is measured, `_write_inputs` replaces the zeros.
        """
        connection, started = self.connection, time.monotonic()
        try:
            if connection.record.renew is not None:
                connection.record.renew()
            connection.begin_check(Record(connection.record.seed, connection.record.renew))
            connection.names()
        finally:
            self.left_out_s += time.monotonic() - started
        tree = dict(inputs.tree, do="prepare", return_freed_memory=return_freed_memory)
        if not inputs.size or not connection.live_worker().channel.transport.carries_descriptors:
            self._request(tree, [bytes(inputs.size)], _PREPARE_S)
            yield
            return
        self._mapped = create_shared_memory("inputs", inputs.size)
        try:
            self._request(tree, [], _PREPARE_S, (self._mapped, inputs.size))
            yield
        finally:
            os.close(self._mapped)
            self._mapped = None

    def add_late_work(self) -> None:
        """Add the CPU time that the worker used after a reply to the `Timing` of that reply."""
        if self._last is not None:
            self._last.cpu_s += self._take_late_cpu_s()

    def _take_late_cpu_s(self) -> float:
        """Return the CPU seconds that the worker used since its last reply, each second once.

        A second call returns only what was used since the first. Return 0 before the first timed reply.
        """
        now = self._cpu()
        late, self._reply_cpu = now - self._reply_cpu, now
        return late if self._last is not None else 0.0

    def _time_request(self, inputs: Inputs, seconds: float, *, idle: bool) -> Timing:
        """Send a request with inputs, and return its times with the results.

        If `idle` is True, the request calls a function that does nothing.
        """
        late, worker, started = self._take_late_cpu_s(), self.connection.live_worker(), time.monotonic()
        message = self._message(inputs, ["name", "", "echo_last_argument"] if idle else self._child)
        try:
            disturbed, before = clock.disturbances(worker.pid), self._read_clocks()
            frame = self._request(message, self._write_inputs(inputs), seconds)
            after = self._read_clocks()
            self._reply_cpu = after.cpu
        except WorkerLost:
            # Its clocks are gone with it. What it took beyond its CPU seconds, it slept, or waited for a core.
            self.left_out_s += max(0.0, time.monotonic() - started - seconds)
            if (seen := worker.last_clocks()) is not None:
                self.slept_s = max(0.0, _clocks_of(*seen).asleep - before.asleep)
            raise
        now, asleep_s = clock.disturbances(worker.pid), max(0.0, after.asleep - before.asleep)
        self.left_out_s += asleep_s
        since = None if disturbed is None or now is None else now.since(disturbed)
        cpu_s = late + after.cpu - before.cpu
        self._last = Timing(cpu_s, asleep_s, self._results(frame, inputs.count), len(frame.data), since)
        return self._last

    def _message(self, inputs: Inputs, child: list[Any], *, hold: bool = False) -> dict[str, Any]:
        return {"do": "go", "function": child, "in_place": inputs.in_place, "hold": hold}

    def _write_inputs(self, inputs: Inputs) -> list[Any]:
        """Write the inputs' elements into shared memory, or return the blocks to send.

        Return [] if the elements were written.
        """
        if self._mapped is None:
            return padded_blocks(inputs.blocks)
        for start, block in zip(inputs.starts, inputs.blocks, strict=True):
            os.pwrite(self._mapped, block, start)
        return []

    def _request(self, tree: dict[str, Any], data: list[Any], seconds: float, mapped: Any = None) -> Frame:
        return self.connection.exchange_messages(tree, data, self._what, seconds, mapped)

    def _results(self, frame: Frame, count: int) -> list[Any]:
        """Return the result of each call; if any call raised, raise the first exception."""
        try:
            parts = unpack_messages(frame)
            expect(len(parts) == count, "another number of replies than of calls")
        except ProtocolError as fault:
            raise self.connection.end_for_protocol_error(self._what, fault) from None
        return [self.connection.value_of(part, self._what, "", ObjectTable()) for part in parts]

    def _read_clocks(self) -> _Clocks:
        worker, wall, cpu = self.connection.worker, time.monotonic(), self._cpu()
        return _clocks_of(wall, cpu, None if worker is None else worker.runnable_wait_s())

    def _cpu(self) -> float:
        worker = self.connection.worker
        used = worker.cpu_s() if worker is not None else None
        return time.perf_counter() if used is None else used

    def close(self) -> None:
        """End the worker."""
        self.connection.close()


def _clocks_of(wall: float, cpu: float, waited: float | None) -> _Clocks:
    """Return two clocks of a worker: its CPU time, and one that runs while it sleeps.

    The difference of two readings of the second clock is the time asleep: the wall time without the CPU time, and
    without what the worker and this process waited for a core. The clock is always 0 if these waits are not known.

    Args:
        wall: the wall-clock time, in seconds.
        cpu: the CPU time of the worker, in seconds.
        waited: the seconds that the worker waited for a core; None if not known.
    """
    ours = clock.runnable_wait_s(os.getpid())
    return _Clocks(cpu, 0.0 if waited is None or ours is None else wall - cpu - waited - ours)


def _refuse(value: Any) -> list[Any]:
    raise Unsupported(f"an argument of a timed call must be a value, not a {type(value).__name__}")
