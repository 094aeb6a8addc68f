"""The other sign

C1  `negate(x)` returns a new tensor with the sign of every element changed.
"""


def negate(x):
    raise NotImplementedError  # TODO
