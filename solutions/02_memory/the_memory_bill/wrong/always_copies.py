"""You copy a tensor that fills half of its storage or more. Such a copy saves little, and costs its memory again.

caught by: compact_keeps
keeps: boxed_bytes, tensor_bytes, held_bytes
"""

import torch


def compact(t):
    return t.clone(memory_format=torch.contiguous_format)
