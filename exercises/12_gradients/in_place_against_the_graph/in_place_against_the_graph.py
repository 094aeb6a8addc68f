"""In place against the graph

Writing in place saves memory, but the way back may need the overwritten numbers. Of these parts of a model, one raises
in `backward`, one changes its input, one hides a change from PyTorch, and one makes a table that it does not need.
Repair all four.

    >>> x = torch.tensor([0.0, 2.0], requires_grad=True)
    >>> swish(x).sum().backward()
    >>> x.grad
    tensor([0.5000, 1.0908])

C1  `swish(x)` returns x * sigmoid(x), element by element.
C2  `residual(x, layer_)` returns x plus what layer_ makes of it. layer_ changes its argument in place and returns it.
C3  Gradients are right: of x in `swish`, also far from 0, of x on both paths in `residual`, of q and k in `attention`.
C4  `attention(q, k, hidden)` is the softmax over the last dim of q @ k.mT, with -inf (not NaN) where hidden is True.
C5  In a batch of 8 or more in float32, `attention` makes at most 9 bytes of new memory for each entry of its result,
    counting what it frees again.
C6  `clear_rows_(w, rows)` sets the rows w[rows] to 0, in its own memory, and returns w. `requires_grad` of w stays as
    it is, True or False, and no history is recorded.
C7  After `clear_rows_`, `backward` of a loss that needs the old numbers of w raises RuntimeError. Otherwise PyTorch
    would compute wrong gradients silently.
C8  All other arguments stay as they are, and results have the dtype of the arguments: float32 or float64.

q is (B, n, d), k is (B, m, d), and hidden is (n, m), with a False in each row. w is a leaf; rows is a list of ints.
"""

from collections.abc import Callable

import torch


# TODO: repair all four
def swish(x: torch.Tensor) -> torch.Tensor:
    gate = torch.sigmoid(x)
    return gate.mul_(x)


def residual(x: torch.Tensor, layer_: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    return x + layer_(x)


def attention(q: torch.Tensor, k: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
    scores = q @ k.mT
    return scores.masked_fill(hidden, -torch.inf).softmax(-1)


def clear_rows_(w: torch.Tensor, rows: list[int]) -> torch.Tensor:
    w.data[rows] = 0
    return w
