"""Windows

A data loader for a language model: pieces of a long text, and the same pieces one place on.

C1  `batch(data, count, context)` returns a pair (x, y) of int64 tensors of shape (count, context).
C2  Each row of x is a piece of data; the row of y is the piece one place on: what comes next.
C3  Pieces begin anywhere they fit, drawn at random with `torch.randint`; another call draws others.
"""

import torch


def batch(data: torch.Tensor, count: int, context: int) -> tuple[torch.Tensor, torch.Tensor]:
    raise NotImplementedError  # TODO
