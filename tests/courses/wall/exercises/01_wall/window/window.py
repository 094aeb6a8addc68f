"""Windows and memory

C1  `window(x, start, size)` returns a view of `size` elements of x, the first at `start`.
C2  `add_into(a, b)` adds b to a in place and returns a.
"""


def window(x, start, size):
    raise NotImplementedError  # TODO


def add_into(a, b):
    raise NotImplementedError  # TODO
