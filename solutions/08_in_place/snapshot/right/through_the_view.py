"""empty_like and copy_; restore_ writes through a detached view."""

import torch


def snapshot(w):
    return torch.empty_like(w, requires_grad=False).copy_(w.detach())


def branch(w):
    return w + torch.zeros_like(w, requires_grad=False)


def peek(w):
    return w.detach()


def restore_(w, saved):
    w.detach().copy_(saved)
    return w


def blend_(average, w, decay):
    average[...] = decay * average + (1 - decay) * w.detach()
    return average
