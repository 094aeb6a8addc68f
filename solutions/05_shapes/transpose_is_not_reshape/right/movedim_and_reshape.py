"""The channels are moved to the front; sizes are multiplied out."""

import math


def hwc_to_chw(img):
    return img.movedim(-1, 0)


def flatten_items(x):
    return x.reshape(len(x), math.prod(x.shape[1:]))
