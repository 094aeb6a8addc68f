"""Double it

C1  `double(x)` returns a new tensor with every element doubled.
C2  The dtype stays as it is.
C3  `double_(x)` doubles x in place and returns x.
"""


def double(x):
    raise NotImplementedError  # TODO


def double_(x):
    raise NotImplementedError  # TODO
