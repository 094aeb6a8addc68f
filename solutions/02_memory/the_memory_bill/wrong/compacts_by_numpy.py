"""You copy by way of NumPy, which has no bfloat16. `clone` copies every dtype.

caught by: compact
keeps: boxed_bytes, tensor_bytes, held_bytes
"""

import torch


def compact(t):
    return t if 2 * t.nbytes >= t.untyped_storage().nbytes() else torch.from_numpy(t.numpy().copy())
