"""Waiting until a deadline, and looking up every now and then meanwhile."""

from __future__ import annotations

import time

from grader.wire.transport import Patience

_POLL_S = 0.5


class Late(Exception):
    """The deadline is over."""


def until(deadline: float) -> Patience:
    """How long to wait at each turn, until a moment of the monotonic clock, in seconds.

    Raises:
        Late: raised by what is returned, once the deadline is over.
    """

    def patience() -> float:
        left = deadline - time.monotonic()
        if left <= 0:
            raise Late
        return min(left, _POLL_S)

    return patience
