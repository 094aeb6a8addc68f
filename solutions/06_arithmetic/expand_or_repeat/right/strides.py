"""Strides by hand; stacks of the same vector; assignments to a slice."""

import torch


def rows_of(v, n):
    return v.as_strided((n, v.shape[0]), (0, v.stride(0)), v.storage_offset())


def own_rows(v, n):
    rows = torch.empty(n, v.shape[0], dtype=v.dtype)
    rows[:] = v
    return rows


def add_bias_(batch, bias):
    torch.add(batch, bias, out=batch)
    return batch


def add_to_columns_(batch, values):
    torch.add(batch, values.reshape(-1, 1), out=batch)
    return batch
