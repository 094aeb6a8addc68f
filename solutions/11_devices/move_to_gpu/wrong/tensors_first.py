"""You put the keys into another order, such as the tensors first; the keys stay in the order of batch.

caught by: contents
keeps: best_device
"""

import torch


def to_device(batch, device=None):
    target = best_device() if device is None else torch.device(device)
    moved = {key: value.to(target) for key, value in batch.items() if isinstance(value, torch.Tensor)}
    return moved | {key: value for key, value in batch.items() if key not in moved}
