"""also right: detached"""

import torch


def interleave(a, b):
    return torch.stack([a, b], 1).flatten()


def columns(vectors):
    return torch.stack(vectors, 1)


def collate(sequences, fill):
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    longest = int(lengths.max())
    batch = sequences[0].new_full((len(sequences), longest), fill)
    for row, sequence in zip(batch, sequences):
        row[: len(sequence)] = sequence
    mask = torch.arange(longest) < lengths[:, None]
    return batch, mask


def collect(parts):
    return torch.cat(parts)
