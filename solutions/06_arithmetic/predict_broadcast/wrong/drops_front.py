"""You stop where the shorter shape ends, as `zip` does; the dims that only the longer one has stay.

caught by: fewer_dims
keeps: met
"""


def broadcast(a, b):
    backwards = [met(x, y) for x, y in zip(reversed(a), reversed(b), strict=False)]
    return tuple(reversed(backwards))
