"""`.mT` wants at least two dims; a vector or a 0-dim tensor has fewer, so there is nothing to swap.

caught by: flip_few_dims
keeps: swap, packed
"""


def flip_last(t):
    return t.mT
