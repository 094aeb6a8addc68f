"""The velocity is kept in one tensor."""

import torch


class Momentum(torch.optim.Optimizer):
    def __init__(self, params, lr, beta):
        super().__init__(params, dict(lr=lr, beta=beta))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in filter(lambda each: each.grad is not None, group["params"]):
                v = self.state[p].setdefault("v", torch.zeros_like(p))
                v.mul_(group["beta"]).add_(p.grad)
                p.sub_(v, alpha=group["lr"])
