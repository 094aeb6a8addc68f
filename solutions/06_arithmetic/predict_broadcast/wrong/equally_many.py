"""You let shapes pass that have equally many elements; the sizes are compared dim by dim, their product does not count.

caught by: misfits
keeps: padded, met
"""

import math


def broadcast(a, b):
    rank = max(len(a), len(b))
    if len(a) == len(b) and 0 not in a + b and math.prod(a) == math.prod(b) and 1 not in a + b:
        return a
    return tuple(met(x, y) for x, y in zip(padded(a, rank), padded(b, rank), strict=True))
