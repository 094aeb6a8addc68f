"""Gradients on demand

A model's loss is a function of its weights. The gradient says, for each weight, how fast the loss grows when that
weight grows a little. PyTorch computes it from the operations that ran, so you need not know the function.

    f(x, y) = x² · y² at (3, 2):   grad_of(f, tensor(3.), tensor(2.))  gives  (tensor(24.), tensor(36.))

C1  `grad_of(f, *xs)` returns a tuple: for each tensor of xs the gradient of f(*xs), in its shape and dtype.
    f returns a 0-dim tensor. A tensor may be given twice: each place has its own gradient.
C2  Tensors of integers are converted to float32 before f gets them; their gradients are float32.
C3  If f does not use one of xs, its gradient is 0 everywhere, with the dtype of C1 or C2. f uses at least one of them.
C4  f is called once, in `steeper` too. So nothing is estimated from small steps.
C5  The tensors xs and x are as before: `requires_grad` and `grad` too. A second call returns the same again.
C6  The gradients are plain numbers: they have no history of their own.
C7  `steeper(f, x)` returns a list with a word for each entry of a 1-D x: "up" if its gradient is above 0, so that f
    grows when this entry grows a little, "down" if it is below 0, "flat" if it is exactly 0.
"""

from collections.abc import Callable

import torch


def grad_of(f: Callable[..., torch.Tensor], *xs: torch.Tensor) -> tuple[torch.Tensor, ...]:
    raise NotImplementedError  # TODO


def steeper(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> list[str]:
    raise NotImplementedError  # TODO
