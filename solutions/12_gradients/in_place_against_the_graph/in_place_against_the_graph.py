import torch


def swish(x):
    return x * torch.sigmoid(x)


def residual(x, layer_):
    return x + layer_(x.clone())


def attention(q, k, hidden):
    # A product does not need its result on the way back, so writing into it is safe; softmax does need its own.
    scores = q @ k.mT
    return scores.masked_fill_(hidden, -torch.inf).softmax(-1)


def clear_rows_(w, rows):
    with torch.no_grad():
        w[rows] = 0
    return w
