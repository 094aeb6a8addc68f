"""Patience that ends: what is waited for until a moment of the monotonic clock, and no longer."""

from __future__ import annotations

import time

from grader.wire.frames import Patience

_POLL_S = 0.5


class Late(Exception):
    """The moment is over."""


def until(deadline: float) -> Patience:
    """Patience until then, asked again in between.

    Args:
        deadline: of the monotonic clock.
    """

    def patience() -> float:
        left = deadline - time.monotonic()
        if left <= 0:
            raise Late
        return min(left, _POLL_S)

    return patience
