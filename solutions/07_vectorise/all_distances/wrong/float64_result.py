"""You compute in float64, which is fine, and return float64, which has twice the memory that the caller asked for.

caught by: dtype
keeps: pairwise_lean
"""


def pairwise(a, b):
    return (a[:, None].double() - b.double()).square().sum(-1).sqrt()
