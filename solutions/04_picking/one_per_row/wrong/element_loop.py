"""You compare the elements one by one in Python; one argmax looks at all of them.

caught by: no_loop
keeps: pick
"""

import itertools


def best(t):
    place = max(itertools.product(*map(range, t.shape)), key=lambda place: t[place])
    return float(t[place]), place
