"""You pick from lists, and make a `torch.tensor` of them: the numbers leave PyTorch, and the result knows nothing of
the scores it came from.

caught by: gradient
keeps: best
"""

import torch


def pick(scores, labels):
    rows = scores.tolist()
    return torch.tensor([row[label] for row, label in zip(rows, labels.tolist(), strict=True)], dtype=scores.dtype)
