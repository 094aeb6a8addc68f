"""Letters for the dims; the layer that a model would use."""

import torch


def hwc_to_chw(img):
    return torch.einsum("hwc->chw", img)


def flatten_items(x):
    return torch.nn.Flatten()(x)
