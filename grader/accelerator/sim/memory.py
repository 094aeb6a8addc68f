"""The memory of a simulated device: how much is taken, how much was at most, and the error when it is full."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch

from grader.accelerator.sim.memory_history import MemoryHistory
from grader.accelerator.sim.memory_stats import Statistics
from grader.accelerator.sim.spec import EIB, GIB, KIB, MIB


def _total_host_bytes() -> int:
    """Return the bytes of memory that the computer has, or that a container may take of it."""
    try:
        whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError):  # no such question on Windows
        return sys.maxsize
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="utf-8").strip()
    except OSError:
        return whole
    return min(whole, int(limit)) if limit.isdecimal() else whole


def _free_host_bytes() -> int:
    """Return the bytes of memory and swap that are free on the computer.

    Without /proc/meminfo, the result is `sys.maxsize`.
    """
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return sys.maxsize
    lines = dict(line.split(":") for line in text.splitlines())
    return sum(int(lines[name].split()[0]) for name in ("MemAvailable", "SwapFree")) * KIB


_HOST = _total_host_bytes()
_MANY_CHANGES = 4096
OBSERVERS: list[Callable[[int, int, int, int], object]] = []
"""Functions that the program wants to be called when a device is full: by its index, the bytes that were to be
allocated, those that are, and those that are free."""
LARGE = 256 * MIB
"""Before as many bytes are allocated, the computer must have them free: where it has fewer, Linux ends the process."""
_NO_HOST = (
    "Tried to allocate {} on {}:{}. The simulated device has room for it, but its tensors are kept in the memory of "
    "this machine, which has {}, of which {} is free. Make the device smaller with --accelerator-memory (pytest), "
    "--memory (launcher) or Spec(memory=...), so that the program learns of it as on a GPU of that size."
)


@dataclass(slots=True)
class DeviceMemory:
    """The memory of one device, in bytes; `total` is the sum of all that was allocated since the last reset."""

    index: int
    kind: str
    capacity: int
    granularity: int
    current: int = 0
    peak: int = 0
    total: int = 0
    share: float = 1.0
    """The part of the capacity that the program may take, from 0 to 1."""
    statistics: Statistics = field(default_factory=Statistics)
    history: MemoryHistory | None = None
    """The record of each allocation and free, while the program has it recorded; otherwise None."""

    @property
    def room(self) -> int:
        """The bytes that the program may still allocate."""
        return (self.capacity if self.share == 1.0 else int(self.share * self.capacity)) - self.current

    def check_room(self, nbytes: int) -> None:
        """Raise `torch.OutOfMemoryError` if the device has no room for `nbytes` bytes.

        Nothing is allocated. There must be room in the computer's memory, too, which holds the numbers of all tensors.
        """
        # Up to a multiple: `//` rounds down, and away from zero where the number is negative.
        nbytes = -(-nbytes // self.granularity) * self.granularity
        if self.current + nbytes > self.capacity or self.share != 1.0:
            self._check_share(nbytes)
        free = _HOST - self.current
        if nbytes >= LARGE:
            free = min(free, _free_host_bytes())
        if nbytes > free:
            raise self._no_host_memory_error(nbytes, free)

    def allocate(self, nbytes: int, storage: torch.UntypedStorage) -> int:
        """Allocate bytes on the device, and return their number, rounded up: 512 for 4.

        `free` needs this number later.

        Args:
            nbytes: the number of bytes that is requested.
            storage: the CPU storage that holds these bytes in the computer's memory, or a storage on meta, which takes
                none of that memory.

        Raises:
            torch.OutOfMemoryError: the device or the computer has no room for the bytes.
        """
        requested, nbytes = nbytes, -(-nbytes // self.granularity) * self.granularity
        current = self.current + nbytes
        if current > self.capacity or self.share != 1.0:
            self._check_share(nbytes)
        if current > _HOST and storage.device.type != "meta":
            raise self._no_host_memory_error(nbytes, _HOST - self.current)
        self.current = current
        self.total += nbytes
        if current > self.peak:
            self.peak = current
        if nbytes:
            statistics = self.statistics
            statistics.nbytes.append(nbytes)
            statistics.requested.append(requested)
        return nbytes

    def _check_share(self, nbytes: int) -> None:
        if nbytes >= EIB:
            raise torch.OutOfMemoryError(f"{self.kind.upper()} out of memory. Tried to allocate more than 1EB memory.")
        if nbytes > self.room:
            self.statistics.full += 1
            if self.history is not None:
                self.history.record_out_of_memory(nbytes, self.capacity - self.current)
            for observe in OBSERVERS:
                observe(self.index, _segment_size(nbytes), self.current, self.capacity - self.current)
            raise torch.OutOfMemoryError(self._no_room_text(nbytes))

    def _no_host_memory_error(self, nbytes: int, free: int) -> torch.OutOfMemoryError:
        sizes = map(size_text, (_HOST, max(free, 0)))
        return torch.OutOfMemoryError(_NO_HOST.format(size_text(nbytes), self.kind, self.index, *sizes))

    def free(self, nbytes: int, requested: int) -> None:
        """Free the memory of one call of `allocate`.

        Args:
            nbytes: the number of bytes that the call returned.
            requested: the number of bytes that the call was given.
        """
        self.current -= nbytes
        if nbytes:
            statistics = self.statistics
            statistics.nbytes.append(-nbytes)
            statistics.requested.append(-requested)
            if len(statistics.nbytes) >= _MANY_CHANGES:
                statistics.add_up()

    def _no_room_text(self, nbytes: int) -> str:
        """Return the message of PyTorch's error for an allocation that the device has no room for."""
        name = "GPU" if self.kind == "cuda" else self.kind
        used, whole, free = size_text(self.current), size_text(self.capacity), size_text(self.capacity - self.current)
        wanted = size_text(_segment_size(nbytes) if self.kind == "cuda" else nbytes)
        allowed = f"{size_text(int(self.share * self.capacity))} allowed; " if self.share < 1 else ""
        return (
            f"{self.kind.upper()} out of memory. Tried to allocate {wanted}. {name} {self.index} has a "
            f"total capacity of {whole} of which {free} is free. Including non-PyTorch memory, this process has {used} "
            f"memory in use. {allowed}Of the allocated memory {used} is allocated by PyTorch, and 0 bytes is reserved "
            "by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
            "PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory "
            "Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
        )


def _segment_size(nbytes: int) -> int:
    """Return the size of the segment that CUDA's allocator requests for a new block.

    It is what PyTorch's error names as the size that it tried to allocate: 2 MiB for 512 bytes, 20 MiB for 5 MiB, and
    12 MiB for 11 MiB. The allocator requests a segment when no cached segment has room for the block.

    Args:
        nbytes: the size of the block.
    """
    if nbytes <= MIB:
        return 2 * MIB
    return 20 * MIB if nbytes < 10 * MIB else -(-nbytes // (2 * MIB)) * 2 * MIB


def size_text(nbytes: int) -> str:
    """Return a number of bytes as text with a unit, such as `1.50 GiB`."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if nbytes >= unit:
            return f"{nbytes / unit:.2f} {name}"
    return f"{nbytes} bytes"
