"""take_along_dim, and the flat number taken apart by divmod."""

import torch


def pick(scores, labels):
    return torch.take_along_dim(scores, labels.unsqueeze(1), dim=1).squeeze(1)


def best(t):
    number = t.flatten().argmax().item()
    value = t.flatten()[number].item()
    index = []
    for size in reversed(t.shape):
        number, place = divmod(number, size)
        index.insert(0, place)
    return float(value), tuple(index)
