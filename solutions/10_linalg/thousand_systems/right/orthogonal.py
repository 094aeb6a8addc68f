"""QR, whose two factors are easily solved for."""

from torch import Tensor
from torch.linalg import qr, solve_triangular


def solve_common(A: Tensor, B: Tensor) -> Tensor:
    Q, R = qr(A)
    return solve_triangular(R, Q.transpose(-2, -1) @ B, upper=True)


def solve_each(A: Tensor, B: Tensor) -> Tensor:
    return solve_common(A, B.unsqueeze(-1)).squeeze(-1)
