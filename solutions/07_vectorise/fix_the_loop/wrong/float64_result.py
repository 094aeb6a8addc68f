"""You compute in float64 and leave the result there; it must have the dtype of x.

caught by: dtype
"""


def energy_above(x, thr):
    return x[x > thr].double().square().sum()
