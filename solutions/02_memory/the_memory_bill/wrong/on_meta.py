"""You make the tensor on "meta". It takes no memory, but PyTorch counts its bytes in 64 bits; Python has no end.

caught by: makes_no_tensor
keeps: boxed_bytes, held_bytes, compact
"""

import torch


def tensor_bytes(shape, dtype):
    return torch.empty(shape, dtype=dtype, device="meta").nbytes
