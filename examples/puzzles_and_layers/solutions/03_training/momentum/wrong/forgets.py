"""You forget the velocity after each step: keep it in self.state[p].

caught by: steps
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
                    p -= group["lr"] * p.grad
