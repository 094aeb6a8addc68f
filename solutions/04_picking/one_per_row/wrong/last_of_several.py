"""You take the last place of the largest number; the rule wants the first.

caught by: first_of_three
keeps: pick
"""


def best(t):
    return float(t.max()), tuple((t == t.max()).nonzero()[-1].tolist())
