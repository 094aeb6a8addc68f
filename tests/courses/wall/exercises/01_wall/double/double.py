"""Double and halve

C1  `double(x)` returns a new tensor with every element doubled.
C2  The dtype of the result of `double` is that of x.
C3  `halve(x)` returns a new tensor with every element halved.
"""


def double(x):
    raise NotImplementedError  # TODO


def halve(x):
    raise NotImplementedError  # TODO
