import torch


def loss_log(losses: list[torch.Tensor]) -> list[float]:
    return torch.stack(losses).tolist() if losses else []


def first_bad(x: torch.Tensor) -> int:
    if x.numel() == 0:
        return -1
    bad = ~x.isfinite()
    first = bad.int().argmax()
    return int(torch.where(bad.any(), first, -1))
