"""You take 2 a·b from |a|² + |b|²: two numbers that are nearly equal. Their rounding errors are all that is left, and
where they come out below 0, the root is NaN.

caught by: equal[pairwise_lean]
breaks: C2, C3
keeps: pairwise
"""


def pairwise_lean(a, b):
    squares = a.square().sum(1)[:, None] + b.square().sum(1) - 2 * a @ b.T
    return squares.sqrt()
