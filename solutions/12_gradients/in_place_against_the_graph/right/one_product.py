"""A tangent for sigmoid; einsum for the product; rows by index_fill_."""

import torch


def swish(x):
    return x * (1 + torch.tanh(x / 2)) / 2


def residual(x, layer_):
    copy = torch.empty_like(x).copy_(x)
    return torch.add(layer_(copy), x)


def attention(q, k, hidden):
    scores = torch.einsum("bnd,bmd->bnm", q, k)
    return scores.masked_fill_(hidden, -torch.inf).softmax(-1)


@torch.no_grad()
def clear_rows_(w, rows):
    for row in rows:
        w[row].zero_()
    return w
