"""You line the shapes up at their left ends; broadcasting begins at the last dim and puts ones in front.

caught by: fewer_dims
keeps: met
"""


def broadcast(a, b):
    rank = max(len(a), len(b))
    a, b = (shape + (1,) * (rank - len(shape)) for shape in (a, b))
    return tuple(met(x, y) for x, y in zip(a, b, strict=True))
