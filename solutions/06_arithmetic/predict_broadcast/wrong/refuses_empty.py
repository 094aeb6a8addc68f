"""You refuse a size of 0; it is a size like others, which fits a 1 or another 0.

caught by: zero_sizes
keeps: padded, met
"""


def broadcast(a, b):
    if 0 in a or 0 in b:
        raise ValueError("no empty tensors")
    rank = max(len(a), len(b))
    return tuple(met(x, y) for x, y in zip(padded(a, rank), padded(b, rank), strict=True))
