"""Shapes together

C1  `together(a, b)` returns the shape that tensors of shapes a and b have together, as a tuple, by PyTorch's rules of
    broadcasting; it raises ValueError where there is none.
C2  Do not use PyTorch or NumPy in this file.
C3  `slope(f)` returns f(1.0) - f(0.0).
"""


def together(a, b):
    raise NotImplementedError  # TODO


def slope(f):
    raise NotImplementedError  # TODO
