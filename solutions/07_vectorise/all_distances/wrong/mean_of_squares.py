"""You take the mean of the squares; the rule wants their sum.

caught by: random[pairwise]
keeps: pairwise_lean
"""


def pairwise(a, b):
    return (a[:, None] - b).square().mean(-1).sqrt()
