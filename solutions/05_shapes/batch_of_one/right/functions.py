"""Functions of torch; negative dims; the data of the picture handed back under a new shape."""

import torch


def as_batch(img):
    return torch.unsqueeze(img, -1 - img.dim())


def unbatch(out):
    n, *rest = out.size()
    if n < 1 or n > 1:
        raise ValueError("there must be one picture")
    return torch.reshape(out, tuple(rest))


def column(v):
    return torch.atleast_2d(v).mT


def as_batch_(img):
    img.data = img.data.unsqueeze(0)
    return img
