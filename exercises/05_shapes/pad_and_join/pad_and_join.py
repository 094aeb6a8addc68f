"""Pad and join

Sentences have different lengths, and a batch is a table: short ones are padded. `cat` joins tensors along a dim that
they have, `stack` along a new one. Both copy what they join, so a loop that joins again and again is slow.

    >>> collate([torch.tensor([5, 6, 7]), torch.tensor([8])], 0)
    (tensor([[5, 6, 7],
            [8, 0, 0]]), tensor([[ True,  True,  True],
            [ True, False, False]]))

C1  `interleave(a, b)` takes two 1-D tensors of the same length, and returns a[0], b[0], a[1], b[1], and so on.
C2  `columns(vectors)` takes a list of 1-D tensors of length n, and returns shape (n, len(vectors)): column i is
    vectors[i].
C3  `collate(sequences, fill)` takes a list of 1-D tensors of any lengths, and returns a tuple (batch, mask). batch has
    a row for each, as long as the longest: row i begins with sequences[i], and the rest of it is fill.
C4  mask is a bool tensor of the same shape: True where batch holds an element of a sequence, even one equal to fill.
C5  `collect(parts)` returns a list of tensors joined along dim 0. It copies each part once: for 100 parts or more, the
    new memory is at most twice that of the result, and it takes at most 8 times as long as one `cat`.
C6  Results have the dtype of the tensors they are made of, own their memory, and leave their arguments as they are.
C7  `interleave` runs as many PyTorch operations for long tensors as for short ones.

In one call all tensors have the same dtype, which holds fill. Lists have one item or more. Lengths may be 0, and
tensors may have any strides.
"""

import torch


def interleave(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: one of a, one of b, in turn


def columns(vectors: list[torch.Tensor]) -> torch.Tensor:
    raise NotImplementedError  # TODO: each vector as a column


def collate(sequences: list[torch.Tensor], fill: int | float) -> tuple[torch.Tensor, torch.Tensor]:
    raise NotImplementedError  # TODO: a table with one row for each sequence, and its mask


def collect(parts: list[torch.Tensor]) -> torch.Tensor:
    result = parts[0]
    for part in parts[1:]:  # TODO: this copies what it has again and again
        result = torch.cat([result, part])
    return result
