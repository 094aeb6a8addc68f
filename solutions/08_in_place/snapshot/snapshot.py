"""also right: detached"""

import torch


def snapshot(w):
    return w.detach().clone()


def branch(w):
    return w.clone()


def peek(w):
    return w.detach()


def restore_(w, saved):
    with torch.no_grad():
        w.copy_(saved)
    return w


def blend_(average, w, decay):
    with torch.no_grad():
        return average.mul_(decay).add_(w, alpha=1 - decay)
