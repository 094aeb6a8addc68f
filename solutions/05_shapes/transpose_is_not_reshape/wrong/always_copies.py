"""You `clone` x first; where x is contiguous, its numbers lie in the right order already.

caught by: contiguous
keeps: hwc_to_chw
"""


def flatten_items(x):
    return x.clone().flatten(1)
