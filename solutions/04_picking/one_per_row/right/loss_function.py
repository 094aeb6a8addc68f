"""The loss that picks one entry of each row and negates it; a view along the diagonal of nothing."""

import numpy as np
import torch


def pick(scores, labels):
    return -torch.nn.functional.nll_loss(scores, labels, reduction="none")


def best(t):
    index = tuple(int(place) for place in np.unravel_index(int(t.argmax()), tuple(t.shape)))
    return float(t[index]), index
