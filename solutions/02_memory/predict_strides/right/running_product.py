"""A running product, and the bounds looked at first."""

from itertools import accumulate
from operator import mul


def contiguous_strides(shape):
    sizes = [max(size, 1) for size in shape]
    steps = list(accumulate([1, *reversed(sizes)], mul))[: len(sizes)]
    return tuple(reversed(steps))


def transposed(shape, strides, a, b):
    rank = len(shape)
    if not (-rank <= a < rank and -rank <= b < rank):
        raise IndexError(f"dims are from {-rank} to {rank - 1}, not {a} and {b}")
    order = list(range(rank))
    order[a], order[b] = b % rank, a % rank
    return tuple(shape[dim] for dim in order), tuple(strides[dim] for dim in order)
