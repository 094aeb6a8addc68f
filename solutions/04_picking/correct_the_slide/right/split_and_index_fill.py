"""Cut in two at n; columns are filled by their numbers, in place."""

import torch


def first_rows(t, n):
    return t.split([n, t.shape[0] - n])[0]


def first_cols(t, n):
    return t.split([n, t.shape[1] - n], dim=1)[0]


def last(t, keep):
    return t.split([len(t) - 1, 1])[1] if keep else t.unbind()[-1]


def set_first_cols_(t, n, v):
    return t.index_fill_(1, torch.arange(n), v)
