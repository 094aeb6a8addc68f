"""You return 0-dim tensors; the rule wants a Python float and a tuple of ints.

caught by: plain_types
keeps: pick
"""


def best(t):
    return t.max(), tuple((t == t.max()).nonzero()[0])
