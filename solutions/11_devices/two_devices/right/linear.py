"""linear and new_ones."""

import torch
from torch.nn.functional import linear, relu


def affine(x, W, b, scale):
    home = x.device
    if W.device != home:
        W = W.to(device=home)
    if b.device != home:
        b = b.to(device=home)
    return linear(x, W.mT, b) * scale.item()


def pipeline(x, stages):
    result = x
    for W, b in stages:
        result = relu(linear(result.to(b.device), W.mT, b))
    return result


def causal_mask(scores):
    n = scores.shape[-1]
    return ~scores.new_ones((n, n), dtype=torch.bool).tril()


def lies_on(t, device):
    asked = torch.device(device)
    return t.device == asked or (asked.index is None and t.device.type == asked.type)
