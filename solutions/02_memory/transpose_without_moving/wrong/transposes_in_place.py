"""You turn t itself in place, with `transpose_`; the caller's tensor now has another shape.

caught by: kept
keeps: swap, packed
"""


def flip_last(t):
    return t.transpose_(-1, -2)[...] if t.ndim >= 2 else t[...]
