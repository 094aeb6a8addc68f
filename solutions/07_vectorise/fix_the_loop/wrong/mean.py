"""You divide by the number of entries; the energy is a sum, and the mean of nothing is NaN.

caught by: random
breaks: C1, C3
"""


def energy_above(x, thr):
    return x[x > thr].square().mean()
