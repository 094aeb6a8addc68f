"""The memory of each storage, and the race detector: streams that use memory without waiting for each other.

Such a race is reported at the line that should have waited.

Each queue counts the work it is given. A queue, and the host, knows up to which number others are done before what it
does next: a wait for a stream, an event or the host passes that on. What uses memory after work that it does not know
to be done is a race. Numbers are right here all the same, as work is done at once; on a GPU they would not be.
"""

from __future__ import annotations

import importlib
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grader.accelerator.sim.addresses import address_of, host_address
from grader.accelerator.sim.clock import OF_COLLECTIVES, Queue
from grader.accelerator.sim.memory import DeviceMemory
from grader.accelerator.sim.program_lines import Site, frame_of_program, site_text
from grader.accelerator.sim.race_warning import RaceWarning
from grader.accelerator.sim.sync_debug import warn_at_program_line

Access = tuple[Queue, int, str, Site]
"""Work that uses memory: its queue, its number there, its name, and the program's line."""

VectorClock = dict[Queue, int]
"""For each queue, the number of the last work that is known to be done: a vector clock."""

_SMALL = 1 << 20
"""CUDA's allocator keeps memory for less apart."""

_WRITES = "writes to what {name} on {queue} reads ({site}), without waiting for it"
_OLD = "uses what {name} on {queue} writes ({site}), without waiting for it"
_REUSED = "gets memory that {name} on {queue} still uses ({site}), as its tensor was dropped"

_OVERWRITTEN = (
    "{name} on {queue} reads pinned memory ({site}) that the host wrote to before it waited for the copy: on a GPU the "
    "numbers may be wrong. Wait for the stream, or for an event after the copy, before you write to that memory again."
)

_EARLY = (
    "{user} pinned memory that {name} on {queue} may not have filled yet ({site}): on a GPU the numbers may be wrong. "
    "Let {waits} wait for {queue}, or for an event after the copy, before this line."
)

_MOST_COPIES = 64
"""As many copies from pinned memory, and to it, are kept in mind."""

_NOBODY: frozenset[Queue] = frozenset()
_NOT_READ: dict[Queue, Access] = {}
"""The reads of all blocks that nothing read since the last write: it stays empty."""


class Block:
    """The memory of one storage on a device; all tensors that view the storage hold it, and the last one frees it."""

    __slots__ = (
        *("__weakref__", "_races", "_taken", "_weak", "address", "blocks", "key", "memory", "storage"),
        *("arrives", "home", "is_new", "reads", "requested", "shared", "written"),
    )

    def __init__(
        self, storage: Any, memory: DeviceMemory, blocks: dict[int, weakref.ref[Block]], races: Races, home: Queue
    ) -> None:
        self.storage = storage
        self.key: int = storage._cdata
        self.memory = memory
        self.blocks = blocks
        # Who uses it: the queue that asked for it, the last work that wrote to it, what read it since then, and the
        # queues that `record_stream` named.
        self._races = races
        self.home = home
        self.is_new = True
        self.arrives = 0.0
        """When a collective will have filled it, in virtual seconds."""
        self.written: Access | None = None
        self.reads = _NOT_READ
        self.shared: frozenset[Queue] = _NOBODY
        self._weak = weakref.ref(self)
        # If there is no room, `allocate` raises and this block is deleted all the same; it must then give back nothing.
        self._taken = 0
        self.requested: int = storage.nbytes()
        """The bytes of the storage, before they are rounded up."""
        self._taken = memory.allocate(self.requested, storage)
        # As `address_of` returns it, without a call: each result of an operator comes here.
        self.address: int = host_address(storage) << 3
        if memory.history is not None:
            self._record_alloc()
        blocks[self.key] = self._weak

    @property
    def nbytes(self) -> int:
        """The bytes that the block takes on the device, rounded up."""
        return self._taken

    def resize(self) -> None:
        """Reallocate the block's bytes on the device for the current size of its storage."""
        # The old size is given back first: a storage that grows needs room for the new size only.
        self._record_free()
        self.memory.free(self._taken, self.requested)
        self._taken = 0
        self.requested = self.storage.nbytes()
        self._taken = self.memory.allocate(self.requested, self.storage)
        self.address = address_of(self.storage)
        self._record_alloc()

    def _record_alloc(self) -> None:
        if self.memory.history is not None and self._taken:
            self.memory.history.record_alloc(self.address, self._taken, self.home[1])

    def _record_free(self) -> None:
        if self.memory.history is not None and self._taken:
            self.memory.history.record_free(self.address, self._taken, self.home[1])

    def __del__(self) -> None:
        # Each operator's result makes a block and frees it: what nobody asked to record is not even called.
        memory = self.memory
        if memory.history is not None:
            self._record_free()
        if self._races.several:
            self._races.record_free(self, self._taken)
        memory.free(self._taken, self.requested)
        # Where the garbage collector breaks a circle, the weak reference is dead before this runs. By then another
        # block of the same storage may stand there, and must stay.
        if self.blocks.get(self.key) is self._weak:
            del self.blocks[self.key]


@dataclass(eq=False, slots=True)
class Arrival:
    """An asynchronous copy to pinned memory that the host has not waited for.

    Attributes:
        target: the CPU tensor that it writes to, kept so that its memory is not used for something else.
        addresses: the begin and the end of that memory.
        access: the copy.
        reported: whether a use of the memory was reported; a missing wait is reported once, not for all that follows.
    """

    target: torch.Tensor
    addresses: tuple[int, int]
    access: Access
    reported: bool = False


class Races:
    """The race detector: it knows which work of each queue is done.

    Attributes:
        several: True if there ever was a stream beside the default streams; before, there is no race.
        strict: True if a race raises, as in PyTorch's own sanitizer; otherwise it warns.
        count: the number of races that were found.
        had_arrivals: True if there ever was an asynchronous copy to pinned memory.
        arriving: the asynchronous copies to pinned memory that the host has not waited for.
        on_arrivals: a callback, called outside operators after `arriving` became empty, or may have got a copy.
    """

    def __init__(self) -> None:
        self.several = False
        self.strict = False
        self.count = 0
        self._given: VectorClock = {}
        self._host: VectorClock = {}
        self._known: dict[Queue, VectorClock] = {}
        # Memory that was freed while other queues than its own used it, by its own queue: bytes, and who used it.
        self._left: dict[Queue, list[tuple[int, Access]]] = {}
        # Pinned memory that copies may be reading still: looks at it, with their versions, and the copies.
        self._copied: deque[tuple[torch.Tensor, int, Access]] = deque(maxlen=_MOST_COPIES)
        self.had_arrivals = False
        self.arriving: deque[Arrival] = deque(maxlen=_MOST_COPIES)
        self._arriving_at = 0, 0  # where all memory lies that copies are filling: the least address, and the end
        self.on_arrivals: Callable[[], None] = lambda: None
        self._last: Access

    # -- who waits for whom

    def vector_clock_of(self, queue: Queue) -> VectorClock:
        """Return how much work of each queue is done once `queue` has run all its work.

        The work of each queue is counted from 1. `vector_clock_of((0, 3))` may return `{(0, 0): 5, (0, 3): 7}`: once
        stream 3 of device 0 has run its 7 kernels, the first 5 kernels of the default stream are done, too, as stream 3
        has waited for them. Such a mapping is called a vector clock.
        """
        return {**self._known.get(queue, {}), queue: self._given.get(queue, 0)}

    def record_wait(self, queue: Queue | None, seen: VectorClock) -> None:
        """Record that a queue, or the host, waits until the work in `seen` is done.

        Args:
            queue: the queue that waits; None for the host.
            seen: the work that it waits for, as `vector_clock_of` returned it.
        """
        known = self._host if queue is None else self._known.setdefault(queue, {})
        if queue is None and self._copied:
            self.warn_of_overwritten_copies()
        for other, number in seen.items():
            if number > known.get(other, 0):
                known[other] = number
        if queue is None and self._copied:
            self._forget_finished_copies()
        if queue is None:
            self._forget_arrived_copies()

    def record_host_wait(self, queues: Iterable[Queue]) -> None:
        """Record that the host waits until all work of these queues is done."""
        for queue in queues:
            self.record_wait(None, self.vector_clock_of(queue))

    def record_copy_from(self, pinned: torch.Tensor) -> None:
        """Record that an asynchronous copy reads pinned memory, to find later writes to it.

        The copy is what the last call of `record_use` recorded. An inference tensor has no version to compare, so
        nothing is recorded of it.
        """
        if not pinned.is_inference():
            self._copied.append((pinned, pinned._version, self._last))

    def record_copy_to(self, pinned: torch.Tensor) -> None:
        """Record that an asynchronous copy writes to pinned memory, to find too early uses.

        The copy is the work that the last call of `record_use` recorded.
        """
        if pinned.numel():
            self.had_arrivals = True
            addresses = first, last = _address_range(pinned)
            low, high = self._arriving_at if self.arriving else addresses
            self._arriving_at = min(low, first), max(high, last)
            self.arriving.append(Arrival(pinned, addresses, self._last))

    def _forget_arrived_copies(self) -> None:
        """Forget each copy to pinned memory that the host has waited for.

        From now on, everybody may use the memory that such a copy filled. If no copy is left, call `on_arrivals`.
        """
        for copy in list(self.arriving):
            queue, number, *_ = copy.access
            if number <= self._host.get(queue, 0):
                self.arriving.remove(copy)
        if not self.arriving:
            self.on_arrivals()

    def arrivals_in(self, tensor: torch.Tensor) -> list[Arrival]:
        """Return the copies that may still write to the memory of a dense CPU tensor, and were not reported."""
        start, end = _address_range(tensor)
        if start >= self._arriving_at[1] or end <= self._arriving_at[0]:
            return []
        return [
            copy
            for copy in self.arriving
            if copy.addresses[0] < end and start < copy.addresses[1] and not copy.reported
        ]

    def report_early_use(self, user: str, tensor: torch.Tensor, queue: Queue | None) -> None:
        """Report a race if a CPU tensor is used while a copy may still write to its memory.

        The copies are asynchronous ones from a device; each is reported once.

        Args:
            user: the name of the user and a verb, such as "sum reads".
            tensor: a dense CPU tensor.
            queue: the queue of a copy to a device, which runs after all work of this queue; None for the host.
        """
        for copy in self.arrivals_in(tensor):
            if queue is None or not self._is_done(copy.access, queue):
                copy.reported = True
                other, _, name, site = copy.access
                waits = "the host" if queue is None else queue_text(queue)
                self._report_race(
                    _EARLY.format(user=user, name=name, queue=queue_text(other), site=site_text(site), waits=waits)
                )

    def warn_of_overwritten_copies(self, *, at_end: bool = False) -> None:
        """Warn of asynchronous copies whose pinned memory the host overwrote too early.

        The host wrote to that memory before it waited for the copy. Each copy is reported once.

        Args:
            at_end: True if the program has ended; then all copies are forgotten.
        """
        for entry in list(self._copied):
            pinned, version, (queue, _, name, site) = entry
            if pinned._version != version:
                self._copied.remove(entry)
                self.count += 1
                text = _OVERWRITTEN.format(name=name, queue=queue_text(queue), site=site_text(site))
                warn_at_program_line(text, RaceWarning)
        if at_end:
            self._copied.clear()

    def _forget_finished_copies(self) -> None:
        """Forget each copy from pinned memory that the host has waited for.

        From now on, the program may write to the memory that such a copy read.
        """
        for entry in list(self._copied):
            queue, number, *_ = entry[2]
            if number <= self._host.get(queue, 0):
                self._copied.remove(entry)

    def record_mutual_wait(self, one: Queue, other: Queue) -> None:
        """Record that two queues wait for each other, as for a copy between devices."""
        self.record_wait(one, self.vector_clock_of(other))
        self.record_wait(other, self.vector_clock_of(one))

    # -- what is used

    def record_use(
        self, queue: Queue, name: str, reads: Sequence[Block], writes: Sequence[Block], callers: int = 0
    ) -> None:
        """Add work that uses memory to a queue, and report a race with the work of another queue.

        For example, a kernel on stream 3 reads what `mm` on the default stream writes, without waiting for it. The
        report is a warning, or an error if the attribute `strict` is True.

        Args:
            queue: the queue of the stream.
            name: the name of the operator.
            reads: blocks of memory that it reads.
            writes: blocks of memory that it writes to.
            callers: the number of further callers, besides the two nearest, that are code of this package; the
                program's line is looked for behind them.
        """
        number = self._given[queue] = self._given.get(queue, 0) + 1
        frame = frame_of_program(3 + callers)  # who calls this is called by code of ours, too
        self._last = this = (queue, number, name, (frame.f_code, frame.f_lasti))
        conflict = self._conflict_text(this, reads, writes) if self.several else ""
        for block in reads:
            if block.reads:
                block.reads[queue] = this
            else:
                block.reads = {queue: this}
        for block in writes:
            block.written = this
            block.reads = _NOT_READ
        if conflict:
            self._report_race(f"{name} on {queue_text(queue)} {conflict}")

    def _conflict_text(self, this: Access, reads: Sequence[Block], writes: Sequence[Block]) -> str:
        """Return the description of the first race of a use of memory; "" without a race.

        It is the end of a message such as "mul on the default stream uses what mm on stream 3 writes (train.py:12,
        `z = x @ y`), without waiting for it: on a GPU the numbers may be wrong. Let ...". The queues of all races then
        count as having waited for each other, so that a missing wait is reported once.

        Args:
            this: the use.
            reads: blocks that it reads.
            writes: blocks that it writes to.
        """
        conflicts: list[tuple[str, Access]] = []
        queue = this[0]
        for block in (*reads, *writes):
            if block.written is not None and not self._is_done(block.written, queue):
                conflicts.append((_OLD, block.written))
            if block.written is None and block.is_new:
                conflicts += [(_REUSED, access) for access in self._take_pending_access(block, queue)]
        for block in writes:
            conflicts += [(_WRITES, access) for access in block.reads.values() if not self._is_done(access, queue)]
        for _, (other, *_rest) in conflicts:
            # A missing wait is reported once, and not for all that comes after it.
            self.record_mutual_wait(queue, other)
        if not conflicts:
            return ""
        text, (other, _, name, site) = conflicts[0]
        return text.format(name=name, queue=queue_text(other), site=site_text(site)) + _advice(text, queue, other)

    def _is_done(self, access: Access, queue: Queue) -> bool:
        other, number = access[0], access[1]
        return other == queue or number <= max(self._known.get(queue, {}).get(other, 0), self._host.get(other, 0))

    def _report_race(self, text: str) -> None:
        self.count += 1
        if self.strict:
            raise _sanitizer_error(text)
        warn_at_program_line(text, RaceWarning)

    # -- memory that is given back

    def record_free(self, block: Block, nbytes: int) -> None:
        """Record the work of other queues that may still use the memory of a freed block.

        Such work causes a race when the block's own queue reuses the memory. Work of streams that `record_stream` named
        is left out: the allocator waits for it.

        Args:
            block: the block whose storage is freed.
            nbytes: the number of bytes that it took.
        """
        accesses = [*block.reads.values(), *([block.written] if block.written is not None else [])]
        for access in accesses:
            if access[0] not in block.shared and not self._is_done(access, block.home):
                self._left.setdefault(block.home, []).append((nbytes, access))

    def _take_pending_access(self, block: Block, queue: Queue) -> list[Access]:
        """Return the work that may still use the memory which a new block reuses, as a list.

        The list has work of another queue on a freed block from which the allocator may take the memory, or is empty.
        The work is forgotten here, and the block no longer counts as new: the race is reported once.

        Args:
            block: the new block.
            queue: the queue whose work uses the block; for another queue than the block's own, the list is empty.
        """
        block.is_new = False
        if queue != block.home or queue not in self._left:
            return []
        left = [(nbytes, access) for nbytes, access in self._left[queue] if not self._is_done(access, queue)]
        fitting = [entry for entry in left if _may_reuse(block.nbytes, entry[0])]
        self._left[queue] = [entry for entry in left if entry not in fitting[:1]]
        return [access for _, access in fitting[:1]]


def _address_range(tensor: torch.Tensor) -> tuple[int, int]:
    """Return the addresses at which the memory of a tensor's elements begins and ends.

    Three numbers in float32 at the address 64 have the range (64, 76). Both are 0 for a tensor without elements.
    """
    if not tensor.numel():
        return 0, 0
    if tensor.is_contiguous():
        start = tensor.data_ptr()
        return start, start + tensor.nbytes
    span = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)) + 1
    start = tensor.data_ptr()
    return start, start + span * tensor.element_size()


def _may_reuse(wanted: int, free: int) -> bool:
    return 0 < wanted <= free and (wanted <= _SMALL) == (free <= _SMALL)


def queue_text(queue: Queue) -> str:
    """Return the name of a queue's stream for messages, such as `stream 3`."""
    if queue[1] == OF_COLLECTIVES:
        return "NCCL's stream"
    return f"stream {queue[1]}" if queue[1] else "the default stream"


def _advice(text: str, queue: Queue, other: Queue) -> str:
    """Return the end of a message about a race: its effect on a GPU, and the remedy.

    For example: ": on a GPU the numbers may be wrong. Let stream 3 wait for the default stream before this line, by its
    wait_stream or wait_event."

    Args:
        text: the template of the message's beginning: `_OLD`, `_REUSED` or `_WRITES`.
        queue: the queue whose work should wait.
        other: the queue that it should wait for.
    """
    if text is _REUSED:
        return (
            f": on a GPU the numbers may be wrong. Tell the tensor of {queue_text(other)} by its record_stream before "
            "it is dropped, or wait for that stream first."
        )
    if other[1] == OF_COLLECTIVES:
        return ": on a GPU the numbers may be wrong. Call wait() of the work that it returned before this line."
    # NCCL's stream waits for the one that is current where a collective is called.
    waits = "the current stream" if queue[1] == OF_COLLECTIVES else queue_text(queue)
    return (
        f": on a GPU the numbers may be wrong. Let {waits} wait for {queue_text(other)} before this line, by its "
        "wait_stream or wait_event."
    )


def _sanitizer_error(text: str) -> Exception:
    sanitizer = importlib.import_module("torch.cuda._sanitizer")
    base: type[Exception] = sanitizer.CUDASanitizerErrors

    class CUDASanitizerErrors(base):  # type: ignore[misc, valid-type]
        def __str__(self) -> str:
            return text

    return CUDASanitizerErrors([sanitizer.SynchronizationError(text)])
