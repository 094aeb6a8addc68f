"""You view the picture in the new shape: the numbers stay in reading order, so channels get mixed.

caught by: two_by_two
keeps: flatten_items
"""


def hwc_to_chw(img):
    height, width, channels = img.shape
    return img.view(channels, height, width)
