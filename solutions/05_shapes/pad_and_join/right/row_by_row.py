"""Each row is padded by itself, then all are stacked; the mask is made like the batch."""

import torch


def interleave(a, b):
    return torch.cat([a[:, None], b[:, None]], dim=1).reshape(-1)


def columns(vectors):
    return torch.cat([vector.unsqueeze(1) for vector in vectors], dim=1)


def padded(sequences, fill):
    longest = max(map(len, sequences))
    rows = [torch.cat([s, torch.full((longest - len(s),), fill, dtype=s.dtype)]) for s in sequences]
    return torch.stack(rows)


def collate(sequences, fill):
    return padded(sequences, fill), padded([torch.ones_like(s, dtype=torch.bool) for s in sequences], False)


def collect(parts):
    return torch.concat(tuple(parts), dim=0)
