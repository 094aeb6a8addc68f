"""You detach one factor of the square, so half of the gradient is lost.

caught by: gradient
"""


def energy_above(x, thr):
    kept = x[x > thr]
    return (kept * kept.detach()).sum()
