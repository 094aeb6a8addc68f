"""also right: detached"""

import torch


def gate(x, g):
    if x.shape != g.shape:
        raise ValueError(f"expected equal shapes, got {tuple(x.shape)} and {tuple(g.shape)}")
    return x * g


def similarity(q, k):
    return q @ k.mT


def pair_scores(x, W, y):
    return (x @ W * y).sum(1)


def discounted(rewards, rate):
    powers = rate ** torch.arange(len(rewards))
    return torch.tensor(rewards, dtype=torch.float32) * powers
