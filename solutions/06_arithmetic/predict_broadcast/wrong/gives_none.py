"""You return None for shapes that do not fit; raise ValueError, so that the caller does not go on without a shape.

caught by: misfits
keeps: padded, met
"""


def broadcast(a, b):
    rank = max(len(a), len(b))
    try:
        return tuple(met(x, y) for x, y in zip(padded(a, rank), padded(b, rank), strict=True))
    except ValueError:
        return None
