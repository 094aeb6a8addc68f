"""You look at the first dim to find out whether x is empty, and at the largest entry otherwise; `sum` needs neither.

caught by: any_layout
"""


def energy_above(x, thr):
    if x.dim() and len(x) == 0:
        return x.new_zeros(())
    if not x[~x.isnan()].max() > thr:
        return x.new_zeros(())
    return x[x > thr].square().sum()
