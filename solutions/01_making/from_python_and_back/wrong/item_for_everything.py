"""You call item() on every tensor. It gives the one number of a tensor that has one, and raises for all others.

caught by: back
keeps: to_tensor
"""


def to_python(t):
    return t.item()
