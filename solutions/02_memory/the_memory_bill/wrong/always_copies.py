"""You copy every tensor. A copy of one that fills its storage saves nothing, and costs its memory again.

caught by: compact_keeps
keeps: boxed_bytes, tensor_bytes, held_bytes
"""

import torch


def compact(t):
    return t.clone(memory_format=torch.contiguous_format)
