"""Python source that makes a value again, with its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from grader.check.show import WHOLE, as_source
from grader.connection.connection import is_proxy
from grader.wire.call import copy_values
from grader.wire.memory import address_range
from grader.wire.table import nested_values


def source_of_values(values: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Return Python source that makes equal values, which share memory as these do.

    For `x[:3]` and `x[3:]` the first list has `memory = torch.tensor([0.0, 1.0, ...], dtype=torch.float32)`, and the
    second list is `["memory[:3]", "memory[3:]"]`.

    Returns:
        The lines that make shared memory, to be run first; and for each value the expression that makes it.

    Raises:
        ValueError: a value has no short expression, or the way in which values share memory has none.
    """
    leaves = [
        each for each in nested_values(values) if isinstance(each, (torch.Tensor, np.ndarray)) and 0 not in each.shape
    ]
    places = [address_range(leaf) for leaf in leaves]
    setup: list[str] = []
    memories: dict[tuple[int, int], str] = {}
    for leaf, place in zip(leaves, places, strict=True):
        overlapping = [other for other in places if other[0] < place[1] and place[0] < other[1]]
        if len(overlapping) == 1 and _keeps_strides(leaf):
            continue
        if isinstance(leaf, np.ndarray) or any(other != place for other in overlapping):
            raise ValueError("values of which one lies in a part of the memory of another have no text")
        if place not in memories:
            memories[place] = f"memory{len(memories) + 1 if memories else ''}"
            setup.append(f"{memories[place]} = {_memory_source(leaf)}")

    def view_source(tensor: torch.Tensor) -> str:
        name = memories.get(address_range(tensor)) if tensor.numel() else None
        return _view_source(tensor, name) if name else ""

    return setup, [as_source(value, view_source) for value in values]


def rebuild_from_source(*values: Any) -> tuple[Any, ...]:
    """Rebuild values from their Python source, as a student will who types the printed lines.

    If a value has no such source, return copies of all. Proxies are returned as they are.
    """
    try:
        setup, texts = source_of_values([value for value in values if not is_proxy(value)])
    except ValueError:
        return copy_values(*values)
    names: dict[str, Any] = {"torch": torch, "np": np}
    # Text of a check's values, none of a worker's.
    exec("\n".join(setup), names)  # noqa: S102
    made = (eval(each, names) for each in texts)  # noqa: S307
    return tuple(value if is_proxy(value) else next(made) for value in values)


def _keeps_strides(leaf: Any) -> bool:
    """Return whether a value that is rebuilt from its Python source has the same strides.

    The source is that of `as_source`, such as `torch.tensor([[0.0, 1.0]])`. Return True for `torch.zeros(2, 3)` and
    `torch.zeros(2, 3).T`, but False for `torch.zeros(2, 3)[:, :2]`, which does not fill its storage.

    Args:
        leaf: a tensor or an array.
    """
    if isinstance(leaf, np.ndarray):
        return bool(leaf.flags.c_contiguous or leaf.flags.f_contiguous)
    whole = leaf.untyped_storage().nbytes() == leaf.numel() * leaf.itemsize
    return bool(whole and (leaf.is_contiguous() or (leaf.dim() == 2 and leaf.T.is_contiguous())))


def _memory_source(tensor: torch.Tensor) -> str:
    """Return source that makes the whole storage of a tensor.

    If all 30 elements of the storage are 0, it is "torch.full((30,), 0.0, dtype=torch.float32)".
    """
    count, rest = divmod(tensor.untyped_storage().nbytes(), tensor.itemsize)
    if rest or tensor.is_conj() or tensor.is_neg():
        raise ValueError("its memory is not made of its elements")
    whole = tensor.detach().as_strided((count,), (1,), 0)
    if count > WHOLE and bool((whole == whole[0]).all()):
        return f"torch.full(({count},), {whole[0].item()!r}, dtype={tensor.dtype})"
    return as_source(whole.clone())


def _view_source(tensor: torch.Tensor, name: str) -> str:
    """Return an expression that makes a tensor as a view of another one.

    Examples are "memory[2:4]" and "memory.as_strided((3, 2), (1, 3), 0)".

    Args:
        tensor: the tensor.
        name: the name, in the source, of a 1-D tensor that has the whole storage.
    """
    offset, shape, strides = int(tensor.storage_offset()), tuple(tensor.shape), tuple(tensor.stride())
    if tensor.dim() == 1 and strides == (1,):
        end = offset + shape[0]
        count = tensor.untyped_storage().nbytes() // tensor.itemsize
        return name if shape[0] == count else f"{name}[{offset or ''}:{end if end < count else ''}]"
    return f"{name}.as_strided({shape}, {strides}, {offset})"
