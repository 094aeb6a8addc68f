"""You set `a.shape`, which changes the caller's own array. `a.reshape(-1)` gives a new one on the same memory.

caught by: keeps_layout
keeps: tensor_view, array_view
"""

import numpy as np


def shares(a, t):
    if a.flags.c_contiguous:
        a.shape = (-1,)
    return bool(np.shares_memory(a, t.numpy()))
