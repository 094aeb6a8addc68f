"""Two products

`x * y` multiplies element by element; `A @ B` sums products of a row of A with a column of B, as attention does.

    >>> similarity(torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([[1.0, 1.0], [3.0, 0.0], [0.0, 4.0]]))
    tensor([[1., 3., 0.],
            [2., 0., 8.]])
    >>> discounted([1.0, 1.0, 8.0], 0.5)
    tensor([1.0000, 0.5000, 2.0000])

C1  `gate(x, g)` returns x times g, element by element, for two tensors of one shape.
C2  `gate` raises ValueError if the shapes differ, even where broadcasting could stretch one of them.
C3  `similarity(q, k)` takes (n, d) and (m, d), and returns (n, m): entry (i, j) is the sum of the products of row i of
    q with row j of k.
C4  In a batch, q is (..., n, d) and k is (..., m, d), with the same dims in front; the result is (..., n, m).
C5  `pair_scores(x, W, y)` takes (N, d), (d, e) and (N, e), and returns (N,): entry i is x[i] @ W @ y[i].
C6  `pair_scores` makes no (N, N) table: 500 float32 rows with d and e of at most 6 take at most 400 bytes of new memory
    each.
C7  `discounted(rewards, rate)` takes a list of numbers and a float of any sign, or 0; entry i of the result, a float32
    tensor, is rewards[i] times rate to the power of i. The list stays as it is.
C8  No loop goes over rows, batches or elements: the number of PyTorch operations does not grow with the sizes.
C9  Results of the first three have the dtype of their arguments, which stay as they are; gradients flow back to them.

Tensors are float32 or float64, in one call all of one dtype, and may have any strides. n, m, N and len(rewards) may be
0, d and e not.
"""

import torch


def gate(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: element by element, equal shapes only


def similarity(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: each row of q with each row of k


def pair_scores(x: torch.Tensor, W: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: x[i] @ W @ y[i] for all i at once


def discounted(rewards: list[float], rate: float) -> torch.Tensor:
    raise NotImplementedError  # TODO: each reward with its own power of rate
