"""You take .item() of an integer tensor, which is an int; the value must be a float for every dtype.

caught by: plain_types
keeps: pick
"""


def best(t):
    return t.max().item(), tuple((t == t.max()).nonzero()[0].tolist())
