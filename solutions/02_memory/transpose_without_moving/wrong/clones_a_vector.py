"""You copy a vector where there is nothing to exchange. The rule asks for a window on t there too, or for t itself.

caught by: no_copy_of_few_dims
keeps: swap, packed
"""


def flip_last(t):
    return t.mT if t.ndim >= 2 else t.clone()
