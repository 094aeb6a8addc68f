"""Methods: broadcast_to, clone of an expanded tensor, add_, a transposed batch."""

import torch


def rows_of(v, n):
    return torch.broadcast_to(v, (n, len(v)))


def own_rows(v, n):
    return v[None].expand(n, len(v)).clone(memory_format=torch.contiguous_format)


def add_bias_(batch, bias):
    return batch.add_(bias)


def add_to_columns_(batch, values):
    batch.T.add_(values)
    return batch
