"""The silent square

A model gives its predictions as a column of shape (n, 1). The targets come from a file, with shape (n,). Subtracting
them raises nothing: each prediction meets each target, and the mean of that n by n table looks like any other loss. For
the predictions 1, 2, 4 and the targets 1, 2, 3 the code below gives 2.3333 instead of 0.3333:

    >>> mse(torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([1.0, 2.0, 3.0]))
    tensor(0.3333)

C1  `mse(pred, target)` returns the mean of the squared differences between prediction i and target i, as a 0-dim
    tensor. n is 1 or more.
C2  Each of the two has the shape (n,) or (n, 1). Their shapes may differ.
C3  Different numbers of predictions and targets raise ValueError, even if one of these numbers is 1.
C4  Any other shape raises ValueError, such as (1, n) with n > 1, (n, 2) or (), even if both have it.
C5  The result has the dtype of pred and target, and gradients flow back to pred.
C6  No n by n table is made: all new memory together is at most that of 16 tensors of n numbers.
C7  pred and target are not changed.

Both are floating-point tensors of one dtype.
"""

import torch


def mse(pred: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return ((pred - target) ** 2).mean()  # TODO: which shapes meet here?
