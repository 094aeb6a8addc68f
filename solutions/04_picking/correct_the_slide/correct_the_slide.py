import torch


def first_rows(t: torch.Tensor, n: int) -> torch.Tensor:
    return t[:n]


def first_cols(t: torch.Tensor, n: int) -> torch.Tensor:
    return t[:, :n]


def last(t: torch.Tensor, keep: bool) -> torch.Tensor:
    return t[-1:] if keep else t[-1]


def set_first_cols_(t: torch.Tensor, n: int, v: float) -> torch.Tensor:
    t[:, :n] = v
    return t
