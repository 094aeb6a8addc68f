import torch


def energy_above(x: torch.Tensor, thr: float) -> torch.Tensor:
    return x[x > thr].square().sum()
