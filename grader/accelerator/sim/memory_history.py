"""What happened to the memory of a device, for `torch.cuda.memory._snapshot`: each allocation and who asked for it."""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import Any

from grader.accelerator.sim.program_lines import PACKAGE

_MOST_FRAMES = 40


class MemoryHistory:
    """The allocations of a device since recording began, by the names that CUDA's allocator has for them.

    Args:
        most: how many entries are kept, the last.
        with_frames: whether each has the frames of the program that asked for it.
        traces: whether there are entries at all; otherwise only the frames of what is allocated now.
    """

    def __init__(self, most: int, *, with_frames: bool, traces: bool) -> None:
        self.entries: deque[dict[str, Any]] = deque(maxlen=min(most, sys.maxsize) if traces else 0)
        self._with_frames = with_frames
        self._frames: dict[int, list[dict[str, Any]]] = {}

    def record_alloc(self, address: int, nbytes: int, stream: int) -> None:
        """Record that bytes were allocated at an address for a stream.

        Args:
            address: the address of the first byte.
            nbytes: the number of bytes.
            stream: the number of the stream that asked for them.
        """
        frames = _frames() if self._with_frames else []
        self._frames[address] = frames
        self._add("alloc", address, nbytes, stream, frames)

    def record_free(self, address: int, nbytes: int, stream: int) -> None:
        """Record that the bytes at an address were freed.

        Args:
            address: the address of the first byte.
            nbytes: the number of bytes.
            stream: the number of the stream that asked for them.
        """
        self._frames.pop(address, None)
        frames = _frames() if self._with_frames else []
        for action in ("free_requested", "free_completed"):
            self._add(action, address, nbytes, stream, frames)

    def record_full(self, nbytes: int, free: int) -> None:
        """Record that there was no room for so many bytes."""
        self._add("oom", free, nbytes, 0, _frames() if self._with_frames else [])

    def frames_of(self, address: int) -> list[dict[str, Any]]:
        """Return the frames of the program that allocated what is at an address now."""
        return self._frames.get(address, [])

    def _add(self, action: str, address: int, nbytes: int, stream: int, frames: list[dict[str, Any]]) -> None:
        where = "device_free" if action == "oom" else "addr"
        entry = {"action": action, where: address, "size": nbytes, "stream": stream, "time_us": time.time_ns() // 1000}
        self.entries.append({**entry, "compile_context": "N/A", "user_metadata": "", "frames": frames})


def _frames() -> list[dict[str, Any]]:
    """Return the frames that are running, the innermost first, without those of the simulation."""
    found: list[dict[str, Any]] = []
    frame = sys._getframe(2)
    while frame is not None and len(found) < _MOST_FRAMES:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            found.append({"filename": code.co_filename, "line": frame.f_lineno, "name": code.co_name})
        frame = frame.f_back  # type: ignore[assignment]
    return found
