import torch


def best_device():
    if torch.accelerator.is_available():
        return torch.accelerator.current_accelerator()
    return torch.device("cpu")


def to_device(batch, device=None):
    target = best_device() if device is None else torch.device(device)
    return {key: value.to(target) if isinstance(value, torch.Tensor) else value for key, value in batch.items()}
