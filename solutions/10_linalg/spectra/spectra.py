"""also right: detached"""

import torch


def compressed(M, k):
    U, values, Vh = torch.linalg.svd(M, full_matrices=False)
    return (U[..., :k] * values[..., None, :k]) @ Vh[..., :k, :]


def spectral_radius(A):
    return torch.linalg.eigvals(A).abs().amax(-1)


def variances(X):
    return torch.linalg.eigvalsh(torch.cov(X.T)).flip(0)


def normals(P):
    first, second, third = P.unbind(1)
    across = torch.linalg.cross(second - first, third - first, dim=-1)
    return across / torch.linalg.vector_norm(across, dim=-1, keepdim=True)
