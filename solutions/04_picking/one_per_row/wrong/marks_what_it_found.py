"""You write into t to look for more; t belongs to the caller.

caught by: arguments_kept
keeps: pick
"""


def best(t):
    index = tuple((t == t.max()).nonzero()[0].tolist())
    value = float(t[index])
    t[index] = t.min()
    return value, index
