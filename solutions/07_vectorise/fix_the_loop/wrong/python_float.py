"""You return a Python float; leave `.item()` out, so that the result stays a tensor.

caught by: stays
breaks: C3, C5
"""


def energy_above(x, thr):
    return x[x > thr].square().sum().item()
