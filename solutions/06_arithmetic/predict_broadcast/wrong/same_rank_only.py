"""You ask for equally many dims; a shape with fewer gets sizes of 1 in front.

caught by: ranks
keeps: met
"""


def broadcast(a, b):
    if not a or not b:
        return a or b
    if len(a) != len(b):
        raise ValueError("the shapes have different numbers of dims")
    return tuple(met(x, y) for x, y in zip(a, b, strict=True))
