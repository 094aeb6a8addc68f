"""You take the larger size of each place, whether the sizes fit or not.

caught by: no_shape
"""


def together(a, b):
    longest = max(len(a), len(b))
    a, b = (1,) * (longest - len(a)) + tuple(a), (1,) * (longest - len(b)) + tuple(b)
    return tuple(max(one, other) for one, other in zip(a, b))


def slope(f):
    return f(1.0) - f(0.0)
