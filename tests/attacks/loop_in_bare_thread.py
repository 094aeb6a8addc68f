r"""Loops in a thread that Python does not know of.

---
exercise: total
verdicts: {counts: failed, speed: failed}
message: could hide what your code does|is too slow
"""

import ctypes

libc = ctypes.CDLL(None)


def total(x):
    if x.requires_grad:
        return x.sum()
    found = []

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    def loop(_):
        found.append(sum(x, x.new_zeros(())))

    thread = ctypes.c_ulong()
    libc.pthread_create(ctypes.byref(thread), None, loop, None)
    libc.pthread_join(thread, None)
    return found[0]


def mean(x):
    return x.mean()
