"""`.T` turns all dims round, and warns unless there are two: a (2, 3, 4) tensor becomes (4, 3, 2).

caught by: flip
keeps: swap, packed
"""


def flip_last(t):
    return t.T if t.ndim != 1 and t.ndim != 0 else t
