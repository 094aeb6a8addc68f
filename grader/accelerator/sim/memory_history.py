"""The history of a device's memory, for `torch.cuda.memory._snapshot`: each allocation, and the frames that made it."""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import Any

from grader.accelerator.sim.program_lines import PACKAGE

_MOST_FRAMES = 40


class MemoryHistory:
    """The allocations and frees of a device since recording began.

    An entry is a dict with the names of CUDA's allocator, such as `{"action": "alloc", "addr": 512, "size": 512,
    "stream": 0, "frames": [...], ...}`.

    Args:
        most: the largest number of entries; the oldest are dropped.
        context: the records that have the program's frames: "state" for the memory that is allocated now, "alloc" for
            entries of allocations, too, "all" for entries of frees, too; None for none.
        traces: True if entries are kept; otherwise only the frames of the memory that is allocated now are.
    """

    def __init__(self, most: int, *, context: str | None, traces: bool) -> None:
        self.entries: deque[dict[str, Any]] = deque(maxlen=min(most, sys.maxsize) if traces else 0)
        self._context = context
        self._frames: dict[int, list[dict[str, Any]]] = {}

    def record_alloc(self, address: int, nbytes: int, stream: int) -> None:
        """Record that bytes were allocated at an address for a stream.

        Args:
            address: the address of the first byte.
            nbytes: the number of bytes.
            stream: the number of the stream that was current.
        """
        frames = [] if self._context is None else _frames()
        self._frames[address] = frames
        self._add("alloc", address, nbytes, stream, [] if self._context == "state" else frames)

    def record_free(self, address: int, nbytes: int, stream: int) -> None:
        """Record that the bytes at an address were freed.

        Args:
            address: the address of the first byte.
            nbytes: the number of bytes.
            stream: the number of the stream for which they were allocated.
        """
        self._frames.pop(address, None)
        frames = _frames() if self._context == "all" else []
        for action in ("free_requested", "free_completed"):
            self._add(action, address, nbytes, stream, frames)

    def record_out_of_memory(self, nbytes: int, free: int) -> None:
        """Record that `nbytes` bytes were requested while only `free` bytes were free."""
        self._add("oom", free, nbytes, 0, _frames() if self._context in ("alloc", "all") else [])

    def frames_of(self, address: int) -> list[dict[str, Any]]:
        """Return the frames in which the memory at an address was allocated.

        The list is empty if no frames were recorded.
        """
        return self._frames.get(address, [])

    def _add(self, action: str, address: int, nbytes: int, stream: int, frames: list[dict[str, Any]]) -> None:
        where = "device_free" if action == "oom" else "addr"
        entry = {"action": action, where: address, "size": nbytes, "stream": stream, "time_us": time.time_ns() // 1000}
        self.entries.append({**entry, "compile_context": "N/A", "user_metadata": "", "frames": frames})


def _frames() -> list[dict[str, Any]]:
    """Return the frames of the current thread, innermost first, without this package's.

    A frame is a dict such as `{"filename": "/home/me/train.py", "line": 12, "name": "main"}`. There are at most 40.
    """
    found: list[dict[str, Any]] = []
    frame = sys._getframe(2)
    while frame is not None and len(found) < _MOST_FRAMES:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            found.append({"filename": code.co_filename, "line": frame.f_lineno, "name": code.co_name})
        frame = frame.f_back  # type: ignore[assignment]
    return found
