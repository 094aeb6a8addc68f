"""You add up the sizes of the differences, which is the way along the streets of a chessboard town, not the distance.

caught by: random[pairwise]
keeps: pairwise_lean
"""


def pairwise(a, b):
    return (a[:, None] - b).abs().sum(-1)
