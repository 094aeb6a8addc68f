"""A quotient for sigmoid; the mask joins the product; rows by index_fill_."""

import torch


def swish(x):
    return x / (1 + torch.exp(-x))


def residual(x, layer_):
    copy = torch.empty_like(x).copy_(x)
    return torch.add(layer_(copy), x)


def attention(q, k, hidden):
    bias = torch.zeros(hidden.shape, dtype=q.dtype).masked_fill_(hidden, -torch.inf)
    return torch.baddbmm(bias, q, k.mT).softmax(-1)


@torch.no_grad()
def clear_rows_(w, rows):
    for row in rows:
        w[row].zero_()
    return w
