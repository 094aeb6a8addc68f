"""The share of the storage as a fraction; a copy by `torch.tensor`-like means."""

import math
import sys


def boxed_bytes(xs):
    return sum(map(sys.getsizeof, [*xs, xs]))


def tensor_bytes(shape, dtype):
    return int(math.prod(shape)) * dtype.itemsize


def held_bytes(t):
    return t.untyped_storage().size()


def compact(t):
    share = t.nbytes / t.untyped_storage().nbytes() if t.untyped_storage().nbytes() else 1.0
    return t if share >= 0.5 else t.detach().contiguous().clone()
