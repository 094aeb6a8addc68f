"""The right axes

A reduction such as `mean` takes dims away, and which ones is up to you. Pictures are normalized with one mean for each
colour channel, over all pictures, rows and columns; a layer normalization looks at each vector by itself.

    >>> images = torch.tensor([[[[1, 3]], [[10, 10]]], [[[5, 7]], [[10, 30]]]], dtype=torch.uint8)
    >>> channel_stats(images)
    (tensor([ 4., 15.]), tensor([2.2361, 8.6603]))
    >>> layer_norm(torch.tensor([[1.0, 3.0], [5.0, 5.0]]))
    tensor([[-1.0000,  1.0000],
            [ 0.0000,  0.0000]])

C1  `channel_stats(images)` takes pictures of shape (N, C, H, W), and returns a tuple (mean, std) of tensors of shape
    (C,): for each channel, the mean and the standard deviation over all pictures, rows and columns.
C2  A standard deviation is the root of the mean of squared distances from the mean: divide by n, not by n - 1. It is
    right to 2 digits even for float32 numbers near 500 that differ by 0.1.
C3  `standardize(images, mean, std)` subtracts each channel's own mean and divides by its own std, even if W equals C.
C4  `layer_norm(x)` takes shape (..., d). Each vector along the last dim gets mean 0 and standard deviation 1: subtract
    its mean, divide by the root of its variance (as in C2) plus 1e-5.
C5  Results have the dtype of the arguments, float32 or float64. If images are uint8, mean, std and results are float32.
C6  Arguments stay as they are, gradients flow through `layer_norm`, no loop goes over pictures, channels or vectors.

N, C, H, W and d are 1 or more; a std of C3 is above 0, and may be as small as 1e-5. Tensors may have any strides.
"""

import torch


def channel_stats(images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    raise NotImplementedError  # TODO: one mean and one std for each channel


def standardize(images: torch.Tensor, mean: torch.Tensor, std: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: each channel with its own numbers


def layer_norm(x: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: each vector by itself
