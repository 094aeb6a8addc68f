"""A batch of one

A model takes batches: (N, C, H, W) holds N pictures. A single picture goes in as a batch of one, and its answer comes
out again. `squeeze()` does not always undo `unsqueeze(0)`: it removes every dim of size 1, also the channel of a grey
picture. And `squeeze(0)` on a batch of two removes nothing and raises nothing.

    >>> grey = torch.zeros(1, 28, 28)
    >>> as_batch(grey).shape, unbatch(as_batch(grey)).shape
    (torch.Size([1, 1, 28, 28]), torch.Size([1, 28, 28]))

C1  `as_batch(img)` returns img with one more dim of size 1 in front.
C2  `unbatch(out)` returns out without its first dim, of size 1. All other dims stay, also those of size 1.
C3  `unbatch` raises ValueError if the first dim of out does not have size 1, but 0 or 2, for example.
C4  `as_batch` and `unbatch` return a view and do not change their argument. A gradient flows back to it.
C5  `as_batch_(img)` adds that dim to img itself and returns img. img keeps its memory; it requires no gradient.

img has any number of dims, out at least one. Sizes may be 0, and tensors may have any strides. Numbers and their order
stay.
"""

import torch


def as_batch(img: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: one more dim in front


def unbatch(out: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: the first dim goes, and only that one


def as_batch_(img: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: like as_batch, but in place
