r"""Tells a hidden number by the line in which it raises.

---
exercise: double
verdicts: {dtype: crashed}
never: ", line \\d|raise ValueError"
"""


def double(x):
    if x.dtype.is_floating_point:
        return 2 * x
    digit = int(x[0]) % 4
    if digit == 0:
        raise ValueError
    if digit == 1:
        raise ValueError
    if digit == 2:
        raise ValueError
    raise ValueError


def halve(x):
    return x / 2
