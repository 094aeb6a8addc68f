"""also right: detached, right_in_float64"""

import torch


def affine(x, W, b, scale):
    return (x @ W.to(x.device) + b.to(x.device)) * scale


def pipeline(x, stages):
    for W, b in stages:
        x = torch.relu(x.to(W.device) @ W + b)
    return x


def causal_mask(scores):
    return torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)


def lies_on(t, device):
    device = torch.device(device)
    return t.device.type == device.type and device.index in (None, t.device.index)
