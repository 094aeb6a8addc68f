"""You made a new tensor; add in place.

caught by: adds
"""


def window(x, start, size):
    return x[start : start + size]


def add_into(a, b):
    return a + b
