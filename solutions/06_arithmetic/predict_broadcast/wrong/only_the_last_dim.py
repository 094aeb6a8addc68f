"""You look whether the last sizes fit, and take the rest for granted; every pair of sizes has to fit.

caught by: one_misfit
keeps: padded
"""


def broadcast(a, b):
    rank = max(len(a), len(b))
    a, b = padded(a, rank), padded(b, rank)
    if rank and a[-1] != b[-1] and 1 not in (a[-1], b[-1]):
        raise ValueError("the last sizes differ")
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))
