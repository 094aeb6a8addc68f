"""also right: detached"""

import torch


def between(x, lo, hi):
    return x[(x >= lo) & (x <= hi)]


def count_between(x, lo, hi):
    return int(((x >= lo) & (x <= hi)).sum())


def replace_between_(x, lo, hi, value):
    x[(x >= lo) & (x <= hi)] = value
    return x


def hide_future(scores):
    n = scores.shape[-1]
    future = torch.ones(n, n, dtype=torch.bool, device=scores.device).triu(diagonal=1)
    return scores.masked_fill(future, -torch.inf)
