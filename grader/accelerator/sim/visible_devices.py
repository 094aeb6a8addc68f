"""Which devices a program sees."""

from __future__ import annotations

import os


def visible_count(count: int) -> int:
    """Return how many of `count` devices CUDA_VISIBLE_DEVICES lets a program see.

    Of 4 devices, "0,2" shows 2. "1,7,0" shows 1, as a number that no device has ends the list. Without this variable,
    the program sees all. The number is enough: all simulated devices are alike, and those that the program sees are
    numbered from 0.
    """
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is None:
        return count
    seen: list[int] = []
    for word in given.split(","):
        # As in CUDA, the first number that no device has ends the list.
        if not word.strip().isdecimal() or int(word) >= count or int(word) in seen:
            break
        seen.append(int(word))
    return len(seen)
