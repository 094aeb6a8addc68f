"""One `where` over the same comparison."""

import torch


def eye(n):
    place = torch.arange(n)
    return torch.where(place[:, None] == place, 1, 0)
