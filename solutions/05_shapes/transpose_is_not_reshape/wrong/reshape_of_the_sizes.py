"""You reshape instead of view. That avoids the error for other strides, but the numbers are still in the wrong order.

caught by: two_by_two
keeps: flatten_items
"""


def hwc_to_chw(img):
    height, width, channels = img.shape
    return img.reshape(channels, height, width)
