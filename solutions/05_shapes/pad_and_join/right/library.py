"""pad_sequence, column_stack, and buffers that are filled in: every second place, and part after part."""

import torch
from torch.nn.utils.rnn import pad_sequence


def interleave(a, b):
    result = a.new_empty(len(a) + len(b))
    result[::2] = a
    result[1::2] = b
    return result


def columns(vectors):
    return torch.column_stack(vectors)


def collate(sequences, fill):
    ones = [torch.ones(len(sequence), dtype=torch.bool) for sequence in sequences]
    mask = pad_sequence(ones, batch_first=True, padding_value=False)
    # `padding_value` is a float, which rounds a large int.
    return pad_sequence(sequences, batch_first=True).masked_fill(~mask, fill), mask


def collect(parts):
    rows = sum(len(part) for part in parts)
    result = parts[0].new_empty((rows, *parts[0].shape[1:]))
    start = 0
    for part in parts:
        result[start : start + len(part)] = part
        start += len(part)
    return result
