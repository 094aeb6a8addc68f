"""You reshape instead of view. That mends the error for other strides, not the order of the numbers.

caught by: two_by_two
keeps: flatten_items
"""


def hwc_to_chw(img):
    height, width, channels = img.shape
    return img.reshape(channels, height, width)
