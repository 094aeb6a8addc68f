"""The square of the norm of the entries that count."""

import torch


def energy_above(x, thr):
    return torch.linalg.vector_norm(torch.masked_select(x, x.gt(thr))).pow(2)
