"""You square the sum; the rule wants the sum of the squares.

caught by: small
"""


def energy_above(x, thr):
    return x[x > thr].sum().square()
