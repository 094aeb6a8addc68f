"""You clamp what the identity brings below 0. The NaN is gone, the rounding errors are not: far away they are all there
is, and the root makes small ones large.

caught by: far[pairwise_lean]
breaks: C2, C3
keeps: pairwise
"""


def pairwise_lean(a, b):
    squares = a.square().sum(1)[:, None] + b.square().sum(1) - 2 * a @ b.T
    return squares.clamp(min=0).sqrt()
