"""You return squared distances; the root is missing.

caught by: random[pairwise]
keeps: pairwise_lean
"""


def pairwise(a, b):
    return (a[:, None] - b).square().sum(-1)
