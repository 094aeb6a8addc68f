"""You copy each point as often as there are partners. The copies hold a number for each pair and each coordinate.

caught by: lean
keeps: pairwise
"""


def pairwise_lean(a, b):
    n, m = len(a), len(b)
    steps = a.repeat_interleave(m, 0) - b.repeat(n, 1)
    return steps.square().sum(1).sqrt().reshape(n, m)
