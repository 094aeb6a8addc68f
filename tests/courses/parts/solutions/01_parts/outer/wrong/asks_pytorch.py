"""You let `torch.outer` do it; the rule is to build it from indexing and arithmetic.

caught by: not_its_own
"""

import torch


def outer(a, b):
    return torch.ger(a, b)
