"""You take the mean of the squares where their sum is asked.

caught by: random[pairwise]
keeps: pairwise_lean
"""


def pairwise(a, b):
    return (a[:, None] - b).square().mean(-1).sqrt()
