"""The bytes of the storage, read as numbers of the dtype."""

import torch


def numbers_of(t):
    as_bytes = torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage())
    return as_bytes.view(t.dtype)


def storage_numbers(t):
    return [number.item() for number in numbers_of(t)]


def poke_(t, k, v):
    numbers = numbers_of(t)
    if k not in range(numbers.numel()):
        raise IndexError("there is no such place")
    numbers[k].fill_(v)
    return t
