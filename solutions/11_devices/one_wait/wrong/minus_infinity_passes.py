"""You compare with infinity, and minus infinity passes; `isfinite` and `isinf` look for both.

caught by: random_place
keeps: loss_log
"""


def first_bad(x):
    bad = x.isnan() | (x == float("inf"))
    return bad.int().argmax().item() if bad.any() else -1
