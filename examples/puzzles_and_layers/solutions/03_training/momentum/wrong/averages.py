"""You take a mean of the velocity and the gradient; the gradient is added whole.

caught by: one_step
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
                    v = group["beta"] * self.state[p].get("v", 0) + (1 - group["beta"]) * p.grad
                    self.state[p]["v"] = v
                    p -= group["lr"] * v
