"""Slices, put on top of each other."""

import torch


def batch(data, count, context):
    first = torch.randint(0, len(data) - context, (count,)).tolist()
    pieces = torch.stack([data[start : start + context + 1] for start in first])
    return pieces[:, :-1], pieces[:, 1:]
