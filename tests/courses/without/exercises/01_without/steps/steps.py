"""Steps

C1  `steps(shape)` returns the strides of a contiguous tensor of that shape, a tuple of ints.
C2  Plain Python: no torch, no NumPy. If you break this rule, you get at most 3 points.
"""


def steps(shape):
    raise NotImplementedError  # TODO
