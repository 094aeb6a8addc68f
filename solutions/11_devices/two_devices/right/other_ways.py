"""addmm and to(other); a matrix of positions; `lies_on` by the words of the device."""

import torch


def affine(x, W, b, scale):
    return torch.addmm(b.to(x), x, W.to(x)).mul(scale)


def pipeline(x, stages):
    for W, b in stages:
        if x.device != W.device:
            x = x.to(W.device)
        x = (x @ W).add_(b).clamp(min=0)
    return x


def causal_mask(scores):
    places = torch.arange(scores.size(-1), device=scores.device)
    return places[None, :] > places[:, None]


def lies_on(t, device):
    kind, _, index = str(device).partition(":")
    mine, _, at = str(t.device).partition(":")
    return kind == mine and index in ("", at)
