"""You use >=, so entries equal to thr count; only greater ones do.

caught by: strict
"""


def energy_above(x, thr):
    return x[x >= thr].square().sum()
