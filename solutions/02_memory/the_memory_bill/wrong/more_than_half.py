"""You copy at exactly half as well; at least half is to be left alone.

caught by: compact_keeps
keeps: boxed_bytes, tensor_bytes, held_bytes
"""

import torch


def compact(t):
    return t if 2 * t.nbytes > held_bytes(t) else t.clone(memory_format=torch.contiguous_format)
