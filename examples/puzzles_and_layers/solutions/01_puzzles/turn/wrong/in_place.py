"""You write into x itself; index it, and you get a new tensor.

caught by: kept
"""

def turn(x):
    moved = x.clone()
    x[1:] = moved[:-1]
    x[0] = moved[-1]
    return x
