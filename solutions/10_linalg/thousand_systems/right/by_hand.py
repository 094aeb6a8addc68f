"""Elimination by hand, with row exchange: a loop over the columns of A, for all systems at once."""

import torch


def solve_common(A, B):
    N, n, _ = A.shape
    T = torch.cat([A, B.expand(N, n, B.shape[-1])], 2)
    at = torch.arange(N)
    for j in range(n):
        p = T[:, j:, j].abs().argmax(1) + j
        order = torch.arange(n).repeat(N, 1)
        order[at, p] = j
        order[:, j] = p
        T = T.gather(1, order[:, :, None].expand_as(T))
        row = T[:, j] / T[:, j, j, None]
        f = T[:, :, j].clone()
        f[:, j] = 0
        T = T - f[:, :, None] * row[:, None, :]
        T = torch.cat([T[:, :j], row[:, None], T[:, j + 1 :]], 1)
    return T[:, :, n:]


def solve_each(A, B):
    return solve_common(A, B[:, :, None])[:, :, 0]
