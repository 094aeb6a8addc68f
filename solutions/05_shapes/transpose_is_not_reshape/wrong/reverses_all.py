"""You reverse all dims with T: channels come first, but height and width are swapped as well.

caught by: two_by_two
keeps: flatten_items
"""


def hwc_to_chw(img):
    return img.permute(2, 1, 0)
