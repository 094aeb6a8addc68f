"""You bring the channels to the end first: pixel by pixel. The rule wants channel by channel.

caught by: two_items
breaks: C3, C5
keeps: hwc_to_chw
"""


def flatten_items(x):
    return x.permute(0, 2, 3, 1).flatten(1)
