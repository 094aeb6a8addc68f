"""Both shapes backwards, with ones where the shorter has ended."""

from itertools import zip_longest


def broadcast(a, b):
    sizes = []
    for x, y in zip_longest(reversed(a), reversed(b), fillvalue=1):
        if x == 1:
            sizes.append(y)
        elif y in (1, x):
            sizes.append(x)
        else:
            raise ValueError(f"cannot broadcast {a} and {b}")
    return tuple(sizes[::-1])
