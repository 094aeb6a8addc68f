"""You give the comparison itself, which is True and False; make numbers of it.

caught by: dtype
"""

import torch


def eye(n):
    return torch.arange(n)[:, None] == torch.arange(n)
