"""Your result has one dim of size 1; `sum()` without `keepdim` gives a 0-dim tensor.

caught by: zero_dim
"""


def energy_above(x, thr):
    return x[x > thr].square().sum(0, keepdim=True)
