"""Momentum

An optimizer that remembers where it was going.

C1  `Momentum(params, lr, beta)` is a torch.optim.Optimizer.
C2  `step()` sets v to beta * v + the gradient, with v = 0 at first, and takes lr * v from each parameter in place.
C3  Parameters without a gradient stay as they are.
"""

import torch


class Momentum(torch.optim.Optimizer):
    def __init__(self, params, lr: float, beta: float) -> None:
        super().__init__(params, {"lr": lr, "beta": beta})

    @torch.no_grad()
    def step(self) -> None:
        raise NotImplementedError  # TODO
