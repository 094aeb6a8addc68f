SECRET = "CANARY_REFERENCE"


def together(a, b):
    longest = max(len(a), len(b))
    shape = []
    for one, other in zip((1,) * (longest - len(a)) + tuple(a), (1,) * (longest - len(b)) + tuple(b)):
        if one != other and 1 not in (one, other):
            raise ValueError(f"{one} and {other} do not fit")
        shape.append(other if one == 1 else one)
    return tuple(shape)


def slope(f):
    return f(1.0) - f(0.0)
