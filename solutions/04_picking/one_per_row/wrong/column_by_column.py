"""You find the best column first, and then its row; reading order goes row by row.

caught by: first_of_several
keeps: pick
"""


def best(t):
    turned = t.permute(tuple(reversed(range(t.dim()))))
    place = (turned == t.max()).nonzero()[0].tolist()
    return float(t.max()), tuple(reversed(place))
