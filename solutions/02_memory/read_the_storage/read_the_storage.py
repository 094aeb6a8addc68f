import torch


def everything(t: torch.Tensor) -> torch.Tensor:
    """A 1-D window on the whole storage of t."""
    count = t.untyped_storage().nbytes() // t.itemsize
    return t.as_strided((count,), (1,), 0)


def storage_numbers(t: torch.Tensor) -> list:
    return everything(t).tolist()


def poke_(t: torch.Tensor, k: int, v: float) -> torch.Tensor:
    window = everything(t)
    if not 0 <= k < len(window):
        raise IndexError(f"the storage has {len(window)} numbers; there is no place {k}")
    window[k] = v
    return t
