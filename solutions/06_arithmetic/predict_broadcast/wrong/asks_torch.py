"""You ask PyTorch for the answer; work it out from the sizes.

caught by: plain_python
"""

import torch


def broadcast(a, b):
    try:
        return tuple(torch.broadcast_shapes(a, b))
    except RuntimeError:
        raise ValueError("the shapes do not fit") from None
