"""diag_embed; eig; a covariance by hand; a length by hand."""

import torch


def compressed(M, k):
    U, S, Vh = torch.linalg.svd(M, full_matrices=False)
    return U[..., :k] @ torch.diag_embed(S[..., :k]) @ Vh[..., :k, :]


def spectral_radius(A):
    values, _ = torch.linalg.eig(A)
    return (values.real.square() + values.imag.square()).sqrt().max(dim=-1).values


def variances(X):
    centred = X - X.mean(0)
    covariance = centred.mT @ centred / (len(X) - 1)
    values, _ = torch.linalg.eigh(covariance)
    return values.sort(descending=True).values


def normals(P):
    across = torch.cross(P[:, 1] - P[:, 0], P[:, 2] - P[:, 1], dim=1)
    return across / across.square().sum(1, keepdim=True).sqrt()
