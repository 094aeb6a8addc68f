"""You build the velocity in the gradient itself, which others read after the step.

caught by: without_gradient
breaks: C2, C3
"""

import torch


class Momentum(torch.optim.Optimizer):
    def __init__(self, params, lr, beta):
        super().__init__(params, {"lr": lr, "beta": beta})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.mul_(2).sub_(p.grad / 2).add_(self.state[p].get("v", 0))
                    p -= group["lr"] * p.grad
