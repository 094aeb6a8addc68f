"""You ask for at least one dim; a 0-dim tensor has none, and it goes with every other tensor.

caught by: no_dims
keeps: padded, met
"""


def broadcast(a, b):
    if len(a) == 0 or len(b) == 0:
        raise ValueError("at least one dim is needed")
    rank = max(len(a), len(b))
    return tuple(met(x, y) for x, y in zip(padded(a, rank), padded(b, rank), strict=True))
