"""The last sizes, then the rest."""


def broadcast(a, b):
    if not a or not b:
        return a or b
    match a[-1], b[-1]:
        case (x, 1) | (1, x):
            last = x
        case (x, y) if x == y:
            last = x
        case _:
            raise ValueError("sizes differ")
    return (*broadcast(a[:-1], b[:-1]), last)
