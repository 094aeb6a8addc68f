"""You subtract b from a without a new dim: point i meets point i only, and other numbers of points do not fit.

caught by: random[pairwise]
breaks: C1, C2, C3, C4, C6, C7
keeps: pairwise_lean
"""


def pairwise(a, b):
    return (a - b).square().sum(-1).sqrt()
