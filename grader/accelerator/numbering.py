"""Which devices a program sees, and the error for a number that none has."""

from __future__ import annotations

import os

import torch

_ORDINAL = """GPU device may be out of range, do you have enough GPUs?
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.
"""


def invalid_ordinal(kind: str) -> Exception:
    """The error for an index that is not there."""
    name = "CUDA" if kind == "cuda" else kind
    more = _ORDINAL if kind == "cuda" else ""
    error: type[Exception] = getattr(torch, "AcceleratorError", RuntimeError)
    return error(f"{name} error: invalid device ordinal\n{more}")


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
