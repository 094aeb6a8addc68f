import torch


def as_batch(img: torch.Tensor) -> torch.Tensor:
    return img.unsqueeze(0)


def unbatch(out: torch.Tensor) -> torch.Tensor:
    if out.shape[0] != 1:
        raise ValueError(f"expected a batch of one, got one of {len(out)}")
    return out.squeeze(0)


def as_batch_(img: torch.Tensor) -> torch.Tensor:
    return img.unsqueeze_(0)
