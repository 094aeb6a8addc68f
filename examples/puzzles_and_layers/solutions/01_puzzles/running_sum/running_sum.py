import torch


def running_sum(x):
    place = torch.arange(len(x))
    return torch.where(place <= place[:, None], x, 0).sum(1)
