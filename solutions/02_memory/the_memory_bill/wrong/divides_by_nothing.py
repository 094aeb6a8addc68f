"""You divide by the bytes of the storage. An empty tensor holds none; compare without a quotient.

caught by: compact_keeps
keeps: boxed_bytes, tensor_bytes, held_bytes
"""

import torch


def compact(t):
    share = t.nbytes / t.untyped_storage().nbytes()
    return t if share >= 0.5 else t.clone(memory_format=torch.contiguous_format)
