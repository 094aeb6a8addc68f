"""You made a copy; a window shares memory.

caught by: view
"""


def window(x, start, size):
    return x[start : start + size].clone()


def add_into(a, b):
    return a.add_(b)
