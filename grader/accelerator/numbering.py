"""Which devices a program sees, and the error for a number that none has."""

from __future__ import annotations

import os

from grader.accelerator.asserts import BY_COMPILER, LATER, of_accelerator

_ORDINAL = f"GPU device may be out of range, do you have enough GPUs?{LATER}\n{BY_COMPILER}"


def invalid_ordinal(kind: str) -> Exception:
    """The error for an index that is not there."""
    name = "CUDA" if kind == "cuda" else kind
    more = _ORDINAL if kind == "cuda" else ""
    return of_accelerator(f"{name} error: invalid device ordinal\n{more}")


def visible_of(count: int) -> int:
    """How many devices CUDA_VISIBLE_DEVICES leaves a program; all if it is not set.

    Which of them hardly matters: they are all alike, and numbered anew from 0.
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
