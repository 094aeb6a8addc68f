import torch


def everything(t: torch.Tensor) -> torch.Tensor:
    """A 1-D view of the whole storage of t."""
    count = t.untyped_storage().nbytes() // t.itemsize
    return t.as_strided((count,), (1,), 0)


def storage_numbers(t: torch.Tensor) -> list:
    return everything(t).tolist()


def poke_(t: torch.Tensor, k: int, v: float) -> torch.Tensor:
    view = everything(t)
    if not 0 <= k < len(view):
        raise IndexError(f"the storage has {len(view)} numbers; there is no place {k}")
    view[k] = v
    return t
