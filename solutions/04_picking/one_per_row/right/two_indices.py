"""Two index tensors that are walked together; the flat number, unravelled."""

import torch


def pick(scores, labels):
    rows = torch.arange(len(scores))
    return scores[rows, labels]


def best(t):
    index = torch.unravel_index(t.argmax(), t.shape)
    return float(t.max()), tuple(int(i) for i in index)
