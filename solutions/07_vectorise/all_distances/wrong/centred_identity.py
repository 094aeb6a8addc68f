"""You move the points to their centre first, which makes the identity right far away. Equal points still differ by the
root of a rounding error, and that root is not small.

caught by: equal[pairwise_lean]
keeps: pairwise
"""

import torch


def pairwise_lean(a, b):
    centre = torch.cat([a, b]).mean(0) if len(a) + len(b) else 0
    a, b = a - centre, b - centre
    squares = a.square().sum(1)[:, None] + b.square().sum(1) - 2 * a @ b.T
    return squares.clamp(min=0).sqrt()
