"""Transpose is not reshape

A camera gives a picture as (height, width, channel). A model wants (channel, height, width), and its last layer one row
of numbers for each item of a batch. The code below gives the right shape and the wrong order, because `view` cuts the
same numbers in other places. And it makes one row of the whole batch.

    >>> img = torch.tensor([[[1, 2, 3], [4, 5, 6]]])  # one row of two pixels
    >>> hwc_to_chw(img).tolist()  # each channel by itself
    [[[1, 4]], [[2, 5]], [[3, 6]]]

C1  `hwc_to_chw(img)` converts (H, W, C) to (C, H, W) and keeps the dtype. Entry [c, h, w] is entry [h, w, c] of img.
C2  `hwc_to_chw` copies nothing: it returns a view of img.
C3  `flatten_items(x)` converts (N, C, H, W) to (N, C * H * W) and keeps the dtype. Row i holds item i, channel by
    channel, and row by row in each.
C4  `flatten_items` accepts any strides, such as those of a batch from `hwc_to_chw`.
C5  If x is contiguous, `flatten_items` returns a view of x.
C6  An empty batch gives shape (0, C * H * W). All other sizes are 1 or more.
C7  Gradients flow back to img and to x.
"""

import torch


def hwc_to_chw(img: torch.Tensor) -> torch.Tensor:
    height, width, channels = img.shape
    return img.view(channels, height, width)  # TODO: correct


def flatten_items(x: torch.Tensor) -> torch.Tensor:
    return x.view(-1)  # TODO: correct
