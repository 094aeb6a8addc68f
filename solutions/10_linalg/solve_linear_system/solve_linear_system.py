import torch


def solve(A, b):
    refuse_misfits(A, b)
    A, b = promoted(A, b)
    try:
        return torch.linalg.solve(A, b)
    except torch.linalg.LinAlgError as error:
        raise ValueError("A is singular") from error


def refuse_misfits(A, b):
    if A.dim() != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"expected a square matrix, got an A of shape {tuple(A.shape)}")
    if b.dim() not in (1, 2) or b.shape[0] != A.shape[0]:
        raise ValueError(f"b has shape {tuple(b.shape)}, which does not fit A of shape {tuple(A.shape)}")


def promoted(A, b):
    dtype = torch.promote_types(A.dtype, b.dtype)
    if not dtype.is_floating_point:
        dtype = torch.get_default_dtype()
    return A.to(dtype), b.to(dtype)
