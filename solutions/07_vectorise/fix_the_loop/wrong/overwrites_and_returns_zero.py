"""You write zeros into x, and return 0; the energy is that of the samples as they were given.

caught by: random
breaks: C1, C2, C3, C6
"""

import torch


def energy_above(x, thr):
    with torch.no_grad():
        x.zero_()
    return x.sum()
