"""What is inside is what is not outside, but for NaN; -inf is added."""

import torch


def inside(x, lo, hi):
    outside = (x < lo) | (x > hi) | x.isnan()
    return ~outside


def between(x, lo, hi):
    return x.flatten()[inside(x, lo, hi).flatten().nonzero().squeeze(1)]


def count_between(x, lo, hi):
    return len(between(x, lo, hi))


def replace_between_(x, lo, hi, value):
    x.copy_(torch.where(inside(x, lo, hi), value, x))
    return x


def hide_future(scores):
    n = scores.shape[-1]
    above = torch.full((n, n), float("-inf"), dtype=scores.dtype).triu(1)
    visible = torch.ones(n, n, dtype=torch.bool).tril()
    return scores.where(visible, above)
