"""You compare the magnitude with thr, so large negative samples count too.

caught by: small
"""


def energy_above(x, thr):
    return x[x.abs() > thr].square().sum()
