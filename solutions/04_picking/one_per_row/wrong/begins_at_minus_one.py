"""You begin with -1 as the largest so far, and all numbers may be smaller; begin with one of t.

caught by: best[many_dims]
keeps: pick
"""


def best(t):
    largest = max(t.max().item(), -1)
    places = (t == largest).nonzero().tolist() or [[0] * t.dim()]
    return float(largest), tuple(places[0])
