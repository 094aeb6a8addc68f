"""You make a matrix of a vector to have two dims; it should look as before.

caught by: flip_few_dims
keeps: swap, packed
"""


def flip_last(t):
    if t.ndim == 1:
        return t.unsqueeze(1)
    return t.mT if t.ndim >= 2 else t
