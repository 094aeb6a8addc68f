"""How an array is left behind, and windows without elements. Runs beside the student's code."""

import numpy as np
import torch


def still_writable(shares, a, t):
    """Whether the array can be written to after a call of `shares`."""
    shares(a, t)
    return bool(a.flags.writeable)


def of_empty_windows(shares, n):
    """The answers for empty windows in the middle of what they are compared with."""
    a = np.zeros(2 * n)
    t = torch.from_numpy(a)
    return [shares(a[n:n], t), shares(a, t[n:n])]
