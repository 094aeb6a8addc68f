"""You compare magnitudes: -9 is far from 0, and still smaller than 8.5.

caught by: best_of_six
keeps: pick
"""


def best(t):
    index = tuple((t.abs() == t.abs().max()).nonzero()[0].tolist())
    return float(t[index]), index
