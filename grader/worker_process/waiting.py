"""The time that a check process waits for its workers."""

from __future__ import annotations

import time
from mmap import mmap
from typing import Self

from grader.wire.frames import Budget

MAX_RECEIVED = 512 << 20
"""Bytes that the replies to one check may hold together."""

_MUCH = MAX_RECEIVED // 2
"""Replies that hold more bytes can cost the check process its memory later too, when the check works with them."""


class Waiting:
    """The time that a check process waits for its workers; it is not the check's own. `with waiting(...)` counts it.

    Attributes:
        no_core_s: seconds for which workers had no core while they were waited for, in this job; None if not known.
        mark: a byte that the host sees: whether a loss of this process now is due to a student's replies.
        budget: the budget of bytes that is left for replies to the check that runs now.
    """

    def __init__(self) -> None:
        self.no_core_s: float | None = None
        self.mark: bytearray | mmap = bytearray(1)
        self.budget = Budget(MAX_RECEIVED)
        self._since = 0.0
        self._depth = 0
        self._total = 0.0
        self._student = False

    def __call__(self, *, student: bool) -> Self:
        """Set whether the next wait is for student code, and return self.

        `with waiting(student=True):` counts the time of its block.
        """
        self._student = student
        return self

    def begin_check(self, budget: Budget) -> None:
        """Begin a check; `budget` limits the total bytes of the replies to this check."""
        self.budget = budget
        self.mark[0] = 0

    def __enter__(self) -> None:
        if self._depth == 0:
            self._since = time.monotonic()
            self.mark[0] = self._student or self._holds_much()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._total += time.monotonic() - self._since
            self.mark[0] = self._holds_much()

    @property
    def is_on(self) -> bool:
        """Return whether the check process waits for a worker now."""
        return self._depth > 0

    def seconds(self) -> float:
        """Return the total seconds that the check process has waited for workers, including the current wait."""
        return self._total + (time.monotonic() - self._since if self._depth else 0.0)

    def _holds_much(self) -> bool:
        return self.budget.left < MAX_RECEIVED - _MUCH
