import torch


def loop_sum(x: torch.Tensor) -> torch.Tensor:
    total = x.new_zeros(())
    for score in x.flatten():
        total = total + score
    return total


def accurate_sum(x: torch.Tensor) -> torch.Tensor:
    return x.sum(dtype=torch.float64).to(x.dtype)


def loop_error(x: torch.Tensor) -> float:
    return (loop_sum(x).double() - x.sum(dtype=torch.float64)).abs().item()
