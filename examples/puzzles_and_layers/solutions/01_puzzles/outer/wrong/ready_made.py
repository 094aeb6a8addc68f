"""You call what does all of it; the puzzle is to do it with a shape and a product.

caught by: by_hand
"""

import torch


def outer(a, b):
    return torch.outer(a, b)
