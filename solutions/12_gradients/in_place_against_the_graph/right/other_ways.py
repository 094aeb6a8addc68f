"""silu; a product in place of the clone; an index in place; a detached view of w."""

import torch
from torch.nn.functional import silu


def swish(x):
    return silu(x)


def residual(x, layer_):
    return layer_(x * 1).add_(x) if not x.requires_grad else layer_(x * 1) + x


def attention(q, k, hidden):
    scores = torch.bmm(q, k.transpose(1, 2))
    scores[:, hidden] = float("-inf")
    return torch.softmax(scores, dim=2)


def clear_rows_(w, rows):
    w.detach()[rows] = 0.0
    return w
