"""What surrounds a call of student code: the seeds of its generators, and what uninitialized memory holds."""

from __future__ import annotations

import ctypes
import random
import sys

import numpy as np
import torch

_PERTURB = -6
"""`M_PERTURB` of glibc's malloc.h: memory is filled when it is given, with the complement of this byte."""

_FILL = 0x80
"""Gives bytes of 0x7F: 3.4e38 in float32 and bfloat16, 1.4e306 in float64, NaN in float16, 2139062143 in int32."""

_set_malloc = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
"""None where the C library is no glibc: there, luck stays."""


def seed(number: int, *, devices: bool) -> None:
    """Seed all generators that student code draws from; those of accelerators only where it sees one."""
    random.seed(number)
    np.random.seed(number % 2**32)
    if devices:
        torch.manual_seed(number)
    else:
        # The function above writes the lines of the stack down for a CUDA that may come: milliseconds in a new process.
        torch.default_generator.manual_seed(number)


def fill_memory(on: bool) -> None:
    """Fill memory from now on when it is allocated, or leave it as it is.

    It holds the same bytes each time, so that no result of student code depends on luck, and large numbers rather than
    zeros, so that an answer that forgets to set them is wrong. It takes about as long as writing zeros. What a thread's
    own cache of malloc's gives is not filled: workers have none (`sandbox.start`). NumPy reuses small blocks itself,
    which are not filled either.
    """
    if _set_malloc is not None:
        _set_malloc(_PERTURB, _FILL if on else 0)
