"""The first index by a minimum over the indices of what is not finite."""

import torch


def loss_log(losses):
    return torch.tensor([]).tolist() if len(losses) == 0 else torch.hstack(losses).detach().to("cpu").tolist()


def first_bad(x):
    n = len(x)
    places = torch.arange(n, device=x.device)
    ends = torch.full((1,), n, device=x.device)
    first = torch.cat([torch.where(torch.isfinite(x), n, places), ends]).min().item()
    return first if first < n else -1
