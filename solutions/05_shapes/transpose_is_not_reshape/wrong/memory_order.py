"""You read the storage as it lies in memory; after permute that is another order than reading order.

caught by: any_strides
keeps: hwc_to_chw
"""


def flatten_items(x):
    n, channels, height, width = x.shape
    size = channels * height * width
    return x.as_strided((n, size), (size, 1))
