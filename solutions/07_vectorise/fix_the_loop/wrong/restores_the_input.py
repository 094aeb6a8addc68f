"""You write zeros into x and put the samples back with `copy_`. Who looks at x meanwhile sees them; work on a copy.

caught by: input_kept
"""


def energy_above(x, thr):
    data = x.data
    saved = data.clone()
    data[~(data > thr)] = 0
    energy = x.clone().square().sum()
    data.copy_(saved)
    return energy
