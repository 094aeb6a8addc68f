"""`sys.getsizeof` of a tensor is the size of the Python object around it, the same for one number and for a million.

caught by: held_example
keeps: boxed_bytes, tensor_bytes
"""

import sys

import torch


def held_bytes(t):
    return sys.getsizeof(t)


def compact(t):
    if 2 * t.nbytes >= t.untyped_storage().nbytes():
        return t
    return t.clone(memory_format=torch.contiguous_format)
