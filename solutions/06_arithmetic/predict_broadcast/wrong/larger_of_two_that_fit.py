"""You take the larger of two sizes that fit; the 1 gives way, also to a 0, which is smaller.

caught by: zero_sizes
keeps: broadcast, padded
"""


def met(x, y):
    if x != y and 1 not in (x, y):
        raise ValueError(f"{x} and {y} do not fit")
    return max(x, y)
