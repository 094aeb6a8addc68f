"""You leave the index a list. t[[0, 2]] picks rows 0 and 2; t[(0, 2)] is one element.

caught by: plain_types
keeps: pick
"""


def best(t):
    return float(t.max()), (t == t.max()).nonzero()[0].tolist()
