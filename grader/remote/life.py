"""How a started process is watched and ended: differs between the two ways to start one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Life(Protocol):
    """How a started process is watched and ended; differs between the two ways to start one."""

    pid: int
    """The process, in the numbering of our own process namespace."""

    def kill(self) -> None:
        """End it with everything it started."""

    def signal(self, number: int) -> None:
        """Send the process a signal, if it is still there. What it started gets none."""

    def exit_code(self) -> int | None:
        """Wait a moment for its end; negative for a signal, None if it does not end."""

    def cpu_at_end(self) -> float | None:
        """CPU seconds of its whole life, once it has ended; None where nobody has counted them."""

    def when_gone(self, clean_up: Callable[[], None]) -> None:
        """Clean up once the process is gone, now or later."""

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel ended it, or something in it, for want of memory."""
