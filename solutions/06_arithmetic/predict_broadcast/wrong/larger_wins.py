"""You take the larger size of each pair and never ask whether the two fit; 2 and 3 do not.

caught by: one_misfit
keeps: broadcast, padded
"""


def met(x, y):
    return max(x, y)
