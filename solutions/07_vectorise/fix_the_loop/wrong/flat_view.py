"""You flatten with `view`, which refuses tensors that are not contiguous; x[mask] needs no flattening.

caught by: any_layout
"""


def energy_above(x, thr):
    x = x.view(-1)
    return x[x > thr].square().sum()
