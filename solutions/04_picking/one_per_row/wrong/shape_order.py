"""You put the numbers of the index the wrong way round: the first one is for dim 0, the rows.

caught by: best_of_six
keeps: pick
"""


def best(t):
    return float(t.max()), tuple(reversed((t == t.max()).nonzero()[0].tolist()))
