"""You write the rule down for `einsum`; the puzzle is to do it with a shape and a product.

caught by: by_hand
"""

import torch


def outer(a, b):
    return torch.einsum("i,j->ij", a, b)
