"""Flat, then multiplied and added in one einsum."""

import torch


def energy_above(x, thr):
    kept = x.reshape(-1).clamp(min=thr)
    kept = torch.where(x.reshape(-1) > thr, kept, 0)
    return torch.einsum("i,i->", kept, kept)
