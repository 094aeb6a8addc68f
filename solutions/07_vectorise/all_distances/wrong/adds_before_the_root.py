"""You add a small number before the root, to keep it from NaN. The root of 1e-8 is 1e-4, and that is what equal points
are apart now. Make no number below 0, then you need no such help.

caught by: equal[pairwise]
breaks: C1, C2
keeps: pairwise_lean
"""


def pairwise(a, b):
    return ((a[:, None] - b).square().sum(-1) + 1e-8).sqrt()
