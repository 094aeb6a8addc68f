"""Spectra

Singular values compress pictures. Eigenvalues show if a network explodes. Cross products show which way triangles face.

    >>> compressed(torch.tensor([[3.0, 0.0], [0.0, 1.0]]), 1)
    tensor([[3., 0.],
            [0., 0.]])
    >>> spectral_radius(torch.tensor([[0.0, -4.0], [4.0, 0.0]]))    # its eigenvalues are 4i and -4i
    tensor(4.)

C1  `compressed(M, k)` returns the nearest matrix of rank k, made of the k largest singular values of M and their
    vectors. k = 0 gives zeros; k up to the smaller size of M gives M again.
C2  `compressed` needs new memory for at most 8 numbers for each entry of M, also if M has 1000 rows and 4 columns.
C3  `spectral_radius(A)` returns the largest absolute value of the eigenvalues, complex ones too, as a real tensor.
C4  `variances(X)` returns the d eigenvalues of the covariance matrix of X, whose N rows are samples: real, the largest
    first. The covariance divides by N - 1, as `torch.cov` does, which takes samples as columns.
C5  `normals(P)` takes (N, 3, 3), N triangles of three points, also with sides of 1e-7, and returns (N, 3): vectors of
    length 1 at right angles to them. Seen from its tip, the three points turn counterclockwise.
C6  `compressed` and `spectral_radius` also take batches of matrices (..., h, w) and (..., n, n).
C7  No warning appears, such as that of a deprecated function. No Python loop runs. The arguments stay as they are.
C8  Results have the dtype of the argument, float32 or float64.

N and d are at least 2 in `variances`, and N may be smaller than d. No triangle is a line.
"""

import torch


def compressed(M: torch.Tensor, k: int) -> torch.Tensor:
    raise NotImplementedError  # TODO: the k largest singular values


def spectral_radius(A: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: how far from 0 the eigenvalues are


def variances(X: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: along each principal direction


def normals(P: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: which way each triangle faces
