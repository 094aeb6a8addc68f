import torch


def energy_above(x: torch.Tensor, thr: float) -> torch.Tensor:
    return x[x > thr].square().sum()


def given(x: torch.Tensor, thr: float) -> torch.Tensor:
    """The loop that students start from, to compare with."""
    energy = x.new_zeros(())
    for sample in x.flatten():
        if sample > thr:
            energy += sample * sample
    return energy
