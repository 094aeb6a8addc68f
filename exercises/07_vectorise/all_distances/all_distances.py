"""All distances

A city has n fire stations and m houses. How far is it from each station to each house? The loop below is right, but it
computes one pair at a time. A table of all differences, (n, m, d), is fast, but needs d times the memory of the result.

    >>> pairwise(torch.tensor([[0.0, 0.0], [3.0, 0.0]]), torch.tensor([[3.0, 4.0]]))
    tensor([[5.],
            [4.]])

C1  `pairwise(a, b)` takes points of shape (n, d) and (m, d). It returns an (n, m) tensor of their dtype, and does
    not compute in a less precise one. Entry [i, j] is the distance of a[i] and b[j], the root of the sum of their
    squared differences. n and m may be 0; d is at least 1. `pairwise_lean(a, b)` returns the same.
C2  For both functions, equal points are 0 apart: no NaN, and at most 1e-6 for coordinates between -1 and 1.
C3  In both functions, small distances stay right between points that are far away. Near 10,000 or -10,000, as on
    maps, they are right to 0.001. (With the formula |a|² + |b|² - 2 a·b they are not: it subtracts two large numbers.)
C4  No function loops over points. Many points take as many operations as few (a loop over the d coordinates is fine),
    and the numbers stay in PyTorch. For 60 by 20 points with d = 3, `pairwise` is 70 times as fast as the loop below.
C5  `pairwise_lean` never needs more new memory at a time than eight (n, m) tensors, where n and m are larger than d.
C6  You compute distances yourself: neither `torch.cdist` nor `pdist` is used, under any name. Other functions are fine.
C7  a and b are not changed.

a and b are both float32 or both float64, with finite numbers, and require no gradient.
"""

import torch


def pairwise(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    table = a.new_zeros(len(a), len(b))
    for i in range(len(a)):  # TODO: no loop over points
        for j in range(len(b)):
            table[i, j] = (a[i] - b[j]).square().sum().sqrt()
    return table


def pairwise_lean(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: no (n, m, d) table either
