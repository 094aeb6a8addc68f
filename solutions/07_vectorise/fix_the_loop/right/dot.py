"""The entries that count, times themselves."""

import torch


def energy_above(x, thr):
    kept = torch.masked_select(x, x > thr)
    return kept @ kept
