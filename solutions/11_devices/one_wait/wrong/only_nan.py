"""You look for NaN alone; an infinite loss is as bad, and its difference to itself is NaN a step later.

caught by: random_place
keeps: loss_log
"""


def first_bad(x):
    bad = x.isnan()
    return bad.int().argmax().item() if bad.any() else -1
