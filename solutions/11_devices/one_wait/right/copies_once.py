"""One copy of all losses to the CPU, and numbers from there."""

import torch


def loss_log(losses):
    if not losses:
        return []
    together = torch.cat([loss.detach().reshape(1) for loss in losses]).cpu()
    return [float(number) for number in together]


def first_bad(x):
    bad = torch.isnan(x) | torch.isinf(x)
    if not bad.any():
        return -1
    return bad.to(torch.uint8).argmax().item()
