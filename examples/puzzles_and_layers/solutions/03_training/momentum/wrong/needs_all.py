"""You ask each parameter for its gradient, and some have none: leave those with p.grad None out.

caught by: without_gradient
"""

import torch


class Momentum(torch.optim.Optimizer):
    def __init__(self, params, lr, beta):
        super().__init__(params, {"lr": lr, "beta": beta})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["v"] = group["beta"] * state.get("v", torch.zeros_like(p)) + p.grad
                p -= group["lr"] * state["v"]
