r"""Works in place element by element, with one tensor as both arguments, too.

---
exercise: window
"""


def window(x, start, size):
    return x[start : start + size]


def add_into(a, b):
    for i in range(len(a)):
        a[i] = a[i] + b[i]
    return a
