"""The worker server's memory, made ready to be forked: a worker copies each page of it that it writes to.

Imports leave holes, free blocks on all pages. A worker would be given those first, a page copied for each small object.
Once they are filled, what it makes lies together.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
from collections.abc import Callable
from typing import Any

_MOST = 20_000
"""Blocks of one size, or of all of malloc's: enough for what imports leave."""

_POOL = 16 << 10
_POOL_HEADER = 48
_STEP = 16
_LARGEST = 512
"""How Python gives memory out: blocks of one size, by steps of 16 bytes, lie in one pool; see Objects/obmalloc.c."""

_BYTES_HEADER = 33
_LARGEST_HOLE = 1 << 20
_SMALLEST_HOLE = 24

_kept: list[Any] = []
"""What lies in the holes, for ever."""


class _Heap(ctypes.Structure):
    """`struct mallinfo2` of glibc's malloc.h."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def freeze() -> None:
    """Free what can be freed, fill the holes, and let collections pass over all that is there by now."""
    gc.collect()
    fill_holes()
    # Or the first collection in a worker would write to every page that objects of the server are on.
    gc.freeze()


def fill_holes() -> None:
    """Fill those of Python's own memory and of the C library's."""
    for size in range(_STEP, _LARGEST + 1, _STEP):
        _fill_pools(size)
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallinfo2"):  # others have no such question
        _fill_heap()


def _fill_pools(size: int) -> None:
    make: Callable[[], object] = {16: object, 32: complex}.get(size) or functools.partial(bytes, size - _BYTES_HEADER)
    # As many on end as a pool has: that pool was empty, and all those that were not are full.
    on_end, before = (_POOL - _POOL_HEADER) // size - 2, 0
    for _ in range(_MOST):
        item = make()
        _kept.append(item)
        on_end = on_end - 1 if id(item) == before + size else (_POOL - _POOL_HEADER) // size - 2
        if on_end == 0:
            return
        before = id(item)


def _fill_heap() -> None:
    libc: Any = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    libc.sbrk.restype, libc.sbrk.argtypes = ctypes.c_void_p, (ctypes.c_ssize_t,)
    libc.free.argtypes, libc.mallinfo2.restype = (ctypes.c_void_p,), _Heap
    heap = libc.mallinfo2()
    top = libc.sbrk(0) - heap.keepcost
    size, left = _LARGEST_HOLE, _MOST
    # The largest first, or small blocks would cut large holes up. What comes from elsewhere than a hole is given back.
    while size >= _SMALLEST_HOLE and left > 0:
        left -= 1
        block = libc.malloc(size)
        if block is None or not top - heap.arena <= block < top:
            libc.free(block)
            size = size * 3 // 4 if size > 2 * _LARGEST else size - _STEP
