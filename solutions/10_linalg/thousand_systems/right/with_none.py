"""In as few operations as are known: an index with None in place of unsqueeze."""

import torch


def solve_each(A, B):
    return torch.linalg.solve(A, B)


def solve_common(A, B):
    return torch.linalg.solve(A, B[None])
