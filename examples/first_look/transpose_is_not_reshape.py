import torch


def hwc_to_chw(img: torch.Tensor) -> torch.Tensor:
    return img.permute(2, 0, 1)


def flatten_items(x: torch.Tensor) -> torch.Tensor:
    pixels = x.permute(0, 2, 3, 1)
    return pixels.flatten(1)
