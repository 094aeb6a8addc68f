"""`contiguous` gives t itself where t is in order already, and then you return no copy.

caught by: packed
keeps: swap, flip_last
"""


def packed(t):
    return t.contiguous()
