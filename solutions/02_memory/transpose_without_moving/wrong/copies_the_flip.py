"""You make a copy of the turned tensor; a view needs no memory, and its writes show in t.

caught by: no_memory
breaks: C2, C4
keeps: swap, packed
"""


def flip_last(t):
    return (t.mT if t.ndim >= 2 else t).clone()
