"""Small values are set to 0; singular values for variances."""

import torch


def compressed(M, k):
    U, S, Vh = torch.linalg.svd(M, False)
    S[..., k:] = 0
    return U * S.unsqueeze(-2) @ Vh


def spectral_radius(A):
    return torch.linalg.eigvals(A).abs().max(-1)[0]


def variances(X):
    values = torch.linalg.svdvals(X - X.mean(0, keepdim=True)) ** 2 / (X.shape[0] - 1)
    return torch.cat([values, values.new_zeros(X.shape[1] - len(values))])


def normals(P):
    a, b = P[:, 1:2] - P[:, :1], P[:, 2:] - P[:, :1]
    n = torch.linalg.cross(a, b).squeeze(1)
    return n / n.norm(dim=1, keepdim=True)
