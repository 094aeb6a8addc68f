"""You swap the first and the last dim: that gives (C, W, H), and the picture lies on its side.

caught by: two_by_two
keeps: flatten_items
"""


def hwc_to_chw(img):
    return img.transpose(0, 2)
