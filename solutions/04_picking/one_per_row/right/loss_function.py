"""The loss that picks one entry of each row and negates it; a view along the diagonal of nothing."""

import numpy as np
import torch


def pick(scores, labels):
    return -torch.nn.functional.nll_loss(scores, labels, reduction="none")


def best(t):
    a = t.detach().numpy()
    index = np.unravel_index(int(a.argmax()), a.shape)
    return float(a[index]), tuple(map(int, index))
