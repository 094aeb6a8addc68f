"""Two dims swapped at a time; contiguous copies only what is not contiguous."""


def hwc_to_chw(img):
    return img.transpose(1, 2).transpose(0, 1)


def flatten_items(x):
    n, channels, height, width = x.shape
    return x.contiguous().view(n, channels * height * width)
