"""You make a column with `reshape`; indexing with None does the same, and is allowed here.

caught by: rule
"""


def outer(a, b):
    return a.reshape(-1, 1) * b
