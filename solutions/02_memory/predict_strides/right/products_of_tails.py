"""Each stride by itself: the product of the sizes after it, zeros left out."""

import math


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(size or 1 for size in shape[dim + 1 :]) for dim in range(len(shape)))


def transposed(shape, strides, a, b):
    pairs = list(zip(shape, strides, strict=True))
    pairs[a], pairs[b] = pairs[b], pairs[a]
    sizes, steps = zip(*pairs, strict=True)
    return sizes, steps
