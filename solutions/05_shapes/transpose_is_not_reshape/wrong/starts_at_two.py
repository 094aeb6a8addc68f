"""You begin at dim 2 and keep the channels apart; dim 1 has to go into the row, too.

caught by: two_items
keeps: hwc_to_chw
"""


def flatten_items(x):
    return x.flatten(2)
