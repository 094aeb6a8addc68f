"""You give permute the way back: it takes, for each new dim, the old one. (1, 2, 0) gives (W, C, H).

caught by: two_by_two
keeps: flatten_items
"""


def hwc_to_chw(img):
    return img.permute(1, 2, 0)
