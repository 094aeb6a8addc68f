"""You overwrite what `isnan` finds in x, which belongs to the caller; a comparison with NaN is False already.

caught by: input_kept
"""


def energy_above(x, thr):
    x[x.isnan()] = 0
    return x[x > thr].square().sum()
