"""What uninitialized memory holds: the same bytes each time, so that no result of student code depends on luck.

Large numbers rather than zeros, so that an answer that forgets to set them is wrong.
"""

from __future__ import annotations

import ctypes
import sys

_PERTURB = -6
"""`M_PERTURB` of glibc's malloc.h: memory is filled when it is given, with the complement of this byte."""

_FILL = 0x80
"""Gives bytes of 0x7F: 3.4e38 in float32 and bfloat16, 1.4e306 in float64, NaN in float16, 2139062143 in int32."""

_set = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
"""None where the C library is no glibc: there, luck stays."""


def fill(on: bool) -> None:
    """Fill memory from now on when it is allocated, or leave it as it is.

    It takes about as long as writing zeros. What a thread's own cache of malloc's gives is not filled: workers have
    none (`process.start`). NumPy reuses small pieces itself, which are not filled either.
    """
    if _set is not None:
        _set(_PERTURB, _FILL if on else 0)
