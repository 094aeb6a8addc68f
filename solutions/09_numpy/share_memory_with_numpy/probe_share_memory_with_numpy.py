"""Views without elements. Runs beside the student's code, since they share nothing on the way to it."""

import numpy as np
import torch


def of_empty_views(shares, n):
    """The answers for empty views in the middle of what they are compared with."""
    a = np.zeros(2 * n)
    t = torch.from_numpy(a)
    return [shares(a[n:n], t), shares(a, t[n:n])]
