"""Functions instead of operators; positions instead of a triangle."""

import torch


def within(x, lo, hi):
    return torch.logical_and(torch.ge(x, lo), torch.le(x, hi))


def between(x, lo, hi):
    return torch.masked_select(x, within(x, lo, hi))


def count_between(x, lo, hi):
    return torch.count_nonzero(within(x, lo, hi)).item()


def replace_between_(x, lo, hi, value):
    return x.masked_fill_(within(x, lo, hi), value)


def hide_future(scores):
    place = torch.arange(scores.size(-1))
    return torch.where(place[None, :] > place[:, None], float("-inf"), scores)
