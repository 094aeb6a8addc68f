"""also right: detached"""

import torch


def to_numpy(t):
    t = t.detach().cpu().resolve_conj().resolve_neg()
    return (t.float() if t.dtype == torch.bfloat16 else t).numpy()


def to_tensor(a):
    if not a.flags.writeable or any(stride < 0 for stride in a.strides):
        a = a.copy()
    return torch.from_numpy(a)
