"""You let a size of 0 meet every other; it fits only a 1 or another 0.

caught by: zero_misfits
keeps: broadcast, padded
"""


def met(x, y):
    if 0 in (x, y):
        return 0
    if x != y and 1 not in (x, y):
        raise ValueError(f"{x} and {y} do not fit")
    return max(x, y)
