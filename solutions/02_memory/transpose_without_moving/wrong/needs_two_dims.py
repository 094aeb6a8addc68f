"""`.mT` wants at least two dims; a vector or a 0-dim tensor has none to exchange.

caught by: flip_few_dims
keeps: swap, packed
"""


def flip_last(t):
    return t.mT
