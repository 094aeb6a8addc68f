"""You swap the last two dims, which gives (H, C, W); the channels have to come first.

caught by: two_by_two
keeps: flatten_items
"""


def hwc_to_chw(img):
    return img.mT
