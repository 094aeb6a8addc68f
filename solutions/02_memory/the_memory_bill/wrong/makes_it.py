"""You make the tensor to ask it. For a large shape that takes all the memory that you wanted to know about.

caught by: makes_no_tensor
keeps: boxed_bytes, held_bytes, compact
"""

import torch


def tensor_bytes(shape, dtype):
    return torch.empty(shape, dtype=dtype).nbytes
