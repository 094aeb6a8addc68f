"""The memory of a simulated device: how much is taken, how much was at most, and the error when it is full."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.accelerator.clock import Queue
from grader.accelerator.races import Access, Races
from grader.accelerator.spec import GIB, KIB, MIB
from grader.accelerator.statistics import Statistics


@dataclass(slots=True)
class Memory:
    """Bytes of one index. `total` is what was ever allocated since the last reset."""

    index: int
    kind: str
    capacity: int
    granularity: int
    current: int = 0
    peak: int = 0
    total: int = 0
    share: float = 1.0
    """What part of the capacity the program may take."""
    statistics: Statistics = field(default_factory=Statistics)

    @property
    def room(self) -> int:
        """The bytes that may be taken still."""
        return int(self.share * self.capacity) - self.current

    def room_for(self, nbytes: int) -> int:
        """The bytes that an allocation takes; raises `torch.OutOfMemoryError` if they are not there."""
        # Up to a multiple: `//` rounds down, and away from zero where the number is negative.
        nbytes = -(-nbytes // self.granularity) * self.granularity
        if nbytes > self.room:
            self.statistics.full += 1
            raise torch.OutOfMemoryError(self._no_room(nbytes))
        return nbytes

    def take(self, nbytes: int) -> int:
        """Allocate; the bytes to give back later."""
        requested, nbytes = nbytes, self.room_for(nbytes)
        self.statistics.add(nbytes, requested, 1)
        self.current += nbytes
        self.total += nbytes
        self.peak = max(self.peak, self.current)
        return nbytes

    def give(self, nbytes: int, requested: int) -> None:
        """Give back what was taken."""
        self.current -= nbytes
        if nbytes:
            self.statistics.add(nbytes, requested, -1)

    def _no_room(self, nbytes: int) -> str:
        name = "GPU" if self.kind == "cuda" else self.kind
        used, whole, free = size_text(self.current), size_text(self.capacity), size_text(self.capacity - self.current)
        allowed = f"{size_text(int(self.share * self.capacity))} allowed; " if self.share < 1 else ""
        return (
            f"{self.kind.upper()} out of memory. Tried to allocate {size_text(nbytes)}. {name} {self.index} has a "
            f"total capacity of {whole} of which {free} is free. Including non-PyTorch memory, this process has {used} "
            f"memory in use. {allowed}Of the allocated memory {used} is allocated by PyTorch, and 0 bytes is reserved "
            "by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
            "PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory "
            "Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
        )


class Block:
    """The memory of one storage on a device; all tensors that view the storage hold it, and the last one frees it."""

    __slots__ = (
        *("__weakref__", "_asked", "_races", "_taken", "blocks", "key", "memory", "storage"),
        *("born", "home", "reads", "shared", "written"),
    )

    def __init__(
        self, storage: Any, memory: Memory, blocks: dict[int, weakref.ref[Block]], races: Races, home: Queue
    ) -> None:
        self.storage = storage
        self.key: int = storage._cdata
        self.memory = memory
        self.blocks = blocks
        # Who uses it: the queue that asked for it, the last work that wrote to it, what read it since then, and the
        # queues that `record_stream` named.
        self._races = races
        self.home = home
        self.born = True
        self.written: Access | None = None
        self.reads: dict[Queue, Access] = {}
        self.shared: set[Queue] = set()
        # If there is no room, `take` raises and this block is deleted all the same; it must then give back nothing.
        self._taken = 0
        self._asked = storage.nbytes()
        self._taken = memory.take(self._asked)
        blocks[self.key] = weakref.ref(self)

    @property
    def nbytes(self) -> int:
        """The bytes that it takes."""
        return self._taken

    def resized(self) -> None:
        """The storage has another size now."""
        # The old size is given back first: a storage that grows needs room for the new size only.
        self.memory.give(self._taken, self._asked)
        self._taken = 0
        self._asked = self.storage.nbytes()
        self._taken = self.memory.take(self._asked)

    def __del__(self) -> None:
        if self._races.several:
            self._races.freed(self, self._taken)
        self.memory.give(self._taken, self._asked)
        # Where the garbage collector breaks a circle, the weak reference is dead before this runs. By then another
        # block of the same storage may stand there, and must stay.
        if self.blocks.get(self.key) is not None and self.blocks[self.key]() in (None, self):
            del self.blocks[self.key]


def size_text(nbytes: int) -> str:
    """A number of bytes for people."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if nbytes >= unit:
            return f"{nbytes / unit:.2f} {name}"
    return f"{nbytes} bytes"
