"""You count the elements that t shows. What t keeps alive is the storage that it looks at, all of it.

caught by: held_example
keeps: boxed_bytes, tensor_bytes
"""

import torch


def held_bytes(t):
    return t.nbytes


def compact(t):
    if 2 * t.nbytes >= t.untyped_storage().nbytes():
        return t
    return t.clone(memory_format=torch.contiguous_format)
