"""One statement in place, and then a return."""

import torch


def axpy_(y, a, x):
    y.sub_(x, alpha=-a)
    return y


def sine_(t):
    torch.sin(t, out=t)
    return t


def reset_(t):
    t.fill_(0)
    return t
