"""You return a NumPy array, and not plain Python: what reads lists and numbers only, such as json, refuses it.

caught by: back
keeps: to_tensor
"""


def to_python(t):
    return t.numpy()
