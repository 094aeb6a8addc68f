r"""Has a library function take attributes whose names are built.

---
exercise: together
verdicts: {alone: failed, slope: failed}
"""

import functools
import warnings

FOUND = []


class Taker:
    def __setattr__(self, name, value):
        FOUND.append(value)


functools.update_wrapper(Taker(), warnings, ["s" + "ys"], [])
functools.update_wrapper(Taker(), FOUND[0], ["mod" + "ules"], [])


def together(a, b):
    try:
        return tuple(FOUND[2]["tor" + "ch"].broadcast_shapes(a, b))
    except RuntimeError:
        raise ValueError("they do not fit") from None


def slope(f):
    return f(1.0) - f(0.0)
