"""One more, one less

C1  `more(x)` returns a new tensor with every element one larger. A single check examines it, so that a slow attack
    is slow once.
C2  `less(x)` returns a new tensor with every element one smaller.
"""


def more(x):
    raise NotImplementedError  # TODO


def less(x):
    raise NotImplementedError  # TODO
