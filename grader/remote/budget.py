"""The time that a comparison may take: what the machine is to blame for, and nothing that the judged side chose."""

from __future__ import annotations

import time
from collections.abc import Callable


class Budget:
    """Seconds by the clock on the wall, from now on, without those that are left out.

    Args:
        seconds: how many there are.
        clock: the clock.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = clock() + seconds
        self.left_out_s = 0.0

    def leave_out(self, seconds: float) -> None:
        """Do not count so many of the seconds that went by.

        A module that sleeps while it loads, or a function that sleeps, would otherwise choose that nothing is decided.
        """
        self.left_out_s += seconds

    def is_over(self) -> bool:
        """Whether all of it is used up."""
        return self._clock() - self.left_out_s > self._until
