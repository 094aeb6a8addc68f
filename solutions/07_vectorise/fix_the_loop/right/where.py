"""Zeros where nothing counts, then one sum."""

import torch


def energy_above(x, thr):
    kept = torch.where(x > thr, x, torch.zeros_like(x))
    return (kept**2).sum()
