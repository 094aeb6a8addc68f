"""You cut off what is below thr by a product with 0, but 0 times infinity is NaN; pick the entries instead.

caught by: random
"""


def energy_above(x, thr):
    x = x.nan_to_num(nan=thr, posinf=None, neginf=float("-inf"))
    return (x * (x > thr)).square().sum()
