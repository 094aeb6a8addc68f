"""You convert to float32 before you compare. 16,777,217 and 16,777,216 are one number there; compare in the dtype of t.

caught by: exact_best
keeps: pick
"""


def best(t):
    t = t.float()
    places = (t == t.max()).nonzero()
    index = tuple(places[0].tolist())
    return float(t[index]), index
