"""You loop over parts of a long tensor, which may save memory; one mask over the whole of x does it.

caught by: no_loop_at_scale
"""


def energy_above(x, thr):
    if x.numel() <= 50_000:
        return x[x > thr].square().sum()
    return sum(chunk[chunk > thr].square().sum() for chunk in x.flatten().split(50_000))
