"""You make the table of all differences, which has a number for each pair and each coordinate.

caught by: lean
keeps: pairwise
"""


def pairwise_lean(a, b):
    return (a[:, None] - b).square().sum(-1).sqrt()
