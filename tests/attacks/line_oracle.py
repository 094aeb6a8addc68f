r"""Tells a hidden number by the line in which it raises: a hidden check shows no line of a file with so many statements.

---
exercise: double
verdicts: {dtype: crashed}
never: ", line \\d|raise ValueError"
"""

# fmt: off


def double(x):
    if x.dtype.is_floating_point:
        return 2 * x
    digit = int(x[0]) % 40
    if digit == 0: raise ValueError
    if digit == 1: raise ValueError
    if digit == 2: raise ValueError
    if digit == 3: raise ValueError
    if digit == 4: raise ValueError
    if digit == 5: raise ValueError
    if digit == 6: raise ValueError
    if digit == 7: raise ValueError
    if digit == 8: raise ValueError
    if digit == 9: raise ValueError
    if digit == 10: raise ValueError
    if digit == 11: raise ValueError
    if digit == 12: raise ValueError
    if digit == 13: raise ValueError
    if digit == 14: raise ValueError
    if digit == 15: raise ValueError
    if digit == 16: raise ValueError
    if digit == 17: raise ValueError
    if digit == 18: raise ValueError
    if digit == 19: raise ValueError
    if digit == 20: raise ValueError
    if digit == 21: raise ValueError
    if digit == 22: raise ValueError
    if digit == 23: raise ValueError
    if digit == 24: raise ValueError
    if digit == 25: raise ValueError
    if digit == 26: raise ValueError
    if digit == 27: raise ValueError
    if digit == 28: raise ValueError
    if digit == 29: raise ValueError
    if digit == 30: raise ValueError
    if digit == 31: raise ValueError
    if digit == 32: raise ValueError
    if digit == 33: raise ValueError
    if digit == 34: raise ValueError
    if digit == 35: raise ValueError
    if digit == 36: raise ValueError
    if digit == 37: raise ValueError
    if digit == 38: raise ValueError
    if digit == 39: raise ValueError


def halve(x):
    return x / 2
