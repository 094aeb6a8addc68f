"""Sizes and strides in their new order; -1 where PyTorch can compute it."""

import torch


def hwc_to_chw(img):
    (height, width, channels), (down, right, deep) = img.shape, img.stride()
    return img.as_strided((channels, height, width), (deep, down, right))


def flatten_items(x):
    if len(x) == 0:
        return x.new_empty(0, x.shape[1] * x.shape[2] * x.shape[3])
    return torch.reshape(x, (x.size(0), -1))
