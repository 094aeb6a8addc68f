import math

import torch


class MomentumSGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.9):
        super().__init__(params, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is not None:
                    s = self.state[p]
                    s["v"] = p.grad.clone() if "v" not in s else s["v"] * g["momentum"] + p.grad
                    p -= g["lr"] * s["v"]


def get_adamw_cls():
    return torch.optim.AdamW


def get_lr_cosine_schedule(it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters):
    if it < warmup_iters:
        return it / warmup_iters * max_learning_rate
    if it > cosine_cycle_iters:
        return min_learning_rate
    t = (it - warmup_iters) / (cosine_cycle_iters - warmup_iters)
    return min_learning_rate + 0.5 * (1 + math.cos(math.pi * t)) * (max_learning_rate - min_learning_rate)
