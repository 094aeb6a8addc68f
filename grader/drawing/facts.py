"""Reads what tensors and arrays are: their views on storages, and which of them share one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

import numpy as np
import torch

from grader.drawing.tensor import DrawnTensor
from grader.model.picture import View

MOST_VALUES = 512
"""So many values of a tensor are read, for the cells of a drawing."""

_SHORT = 8


@dataclass(frozen=True)
class _StoragePlace:
    """The place of a storage: addresses in bytes, or an identity where memory has no address."""

    key: object
    start: int
    end: int


def drawn_tensors(tensors: Mapping[str, Any]) -> list[DrawnTensor]:
    """Return the facts of tensors and NumPy arrays that a drawing shows, in the same order.

    Those that share memory become views on one storage: for `{"x": x, "y": x.T}` both views have `memory` 0.

    Args:
        tensors: tensors and arrays, by the names that the drawing shows.

    Raises:
        TypeError: a value is neither a tensor nor an array.
    """
    found: list[DrawnTensor] = []
    storages: list[_StoragePlace] = []
    for name, value in tensors.items():
        facts, memory = _of_array(name, value) if isinstance(value, np.ndarray) else _of_tensor(name, value)
        found.append(facts)
        storages.append(memory)
    groups = _group_by_memory(storages)
    return [_with_shared_offset(facts, storages, groups, number) for number, facts in enumerate(found)]


def _of_tensor(name: str, value: Any) -> tuple[DrawnTensor, _StoragePlace]:
    """Return the facts of a tensor that are drawn, and the address range of its storage."""
    if not isinstance(value, torch.Tensor):
        raise TypeError(
            f"{name} is a {type(value).__name__}; draw takes tensors, NumPy arrays and shapes such as (2, 3)"
        )
    if value.is_nested:
        raise TypeError(f"{name} is a nested tensor, which has no one shape; draw one of its parts: {name}.unbind()[0]")
    value = value.detach() if (grad := _grad_phrase(value)) else value
    shape, dtype = tuple(value.shape), str(value.dtype).removeprefix("torch.")
    view, memory, contiguous = None, _StoragePlace(object(), 0, 0), False
    if value.layout is torch.strided:
        storage, size = value.untyped_storage(), value.element_size()
        key = storage._cdata
        address = storage.data_ptr() if value.device.type in ("cpu", "cuda") else 0
        memory = _StoragePlace(key, address, address + storage.nbytes())
        strides = tuple(value.stride())
        view = View(name, shape, strides, value.storage_offset(), storage.nbytes() // size)
        contiguous = value.is_contiguous()
    values = _element_texts(value) if view is not None and value.device.type != "meta" else ()
    facts = DrawnTensor(view, name, shape, dtype, str(value.device), contiguous, grad, values, value.element_size())
    return facts, memory


def _grad_phrase(value: torch.Tensor) -> str:
    if not value.requires_grad:
        return ""
    return "a leaf that requires grad" if value.is_leaf else "requires grad"


def _of_array(name: str, value: np.ndarray[Any, Any]) -> tuple[DrawnTensor, _StoragePlace]:
    """Return the facts of a NumPy array that are drawn, and the address range of its memory.

    If the array is a view, that is the memory of the array on which it is a view.
    """
    whole: Any = value
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    # NumPy 1.26 has it in another place than NumPy 2.
    byte_bounds = np.lib.array_utils.byte_bounds if hasattr(np.lib, "array_utils") else vars(np)["byte_bounds"]
    start, end = byte_bounds(whole)
    size = value.itemsize or 1
    address = value.__array_interface__["data"][0]
    strides = tuple(step // size for step in value.strides)
    view = View(name, value.shape, strides, (address - start) // size, (end - start) // size)
    texts = tuple(_element_text(each) for each in islice(value.flat, MOST_VALUES))
    contiguous = bool(value.flags.c_contiguous)
    facts = DrawnTensor(view, name, value.shape, str(value.dtype), "cpu (NumPy)", contiguous, "", texts, size)
    return facts, _StoragePlace(id(whole), start, end)


def _element_texts(value: torch.Tensor) -> tuple[str, ...]:
    """Return the first elements of a tensor as texts, at most `MOST_VALUES`.

    `torch.tensor([1.0, 2.5])` has `("1.", "2.5")`, and True is "T".
    """
    if not value.numel():
        return ()
    # Only as many as are shown are read: an expanded tensor may have more elements than memory has.
    indices = islice(product(*(range(min(size, MOST_VALUES)) for size in value.shape)), MOST_VALUES)
    if value.is_quantized:
        value = value.int_repr()  # what is in the storage
    if value.numel() <= MOST_VALUES:
        flat = value.detach().resolve_conj().resolve_neg().cpu().reshape(-1)
        return tuple(_element_text(each) for each in flat.tolist())
    return tuple(_element_text(value[index].item()) for index in indices)


def _element_text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "T" if value else "F"
    if isinstance(value, (float, np.floating)):
        whole = f"{float(value):.4g}"
        return f"{whole}." if whole.lstrip("-").isdigit() else whole
    return str(value)[:_SHORT]


def _group_by_memory(storages: Sequence[_StoragePlace]) -> list[int]:
    """Return a group for each storage, the same for storages that share memory.

    A group is a number: the index of its first storage. If the first two of three share memory, the result is
    `[0, 0, 2]`.
    """
    groups: list[int] = []
    for number, one in enumerate(storages):
        same = (
            other
            for other in range(number)
            if storages[other].key == one.key
            or max(storages[other].start, one.start) < min(storages[other].end, one.end)
        )
        first = next(same, None)
        groups.append(number if first is None else groups[first])
    return groups


def _with_shared_offset(
    facts: DrawnTensor, storages: Sequence[_StoragePlace], groups: Sequence[int], number: int
) -> DrawnTensor:
    """Return a tensor's facts with its offset in all memory that it shares with others.

    NumPy and PyTorch may name different beginnings of the same memory; the offset counts from the first. Beside an
    array `a`, the tensor `torch.from_numpy(a[2:])` gets the offset 2 in place of 0.

    Args:
        facts: the facts of the tensor.
        storages: the storage of each tensor.
        groups: the group of each storage, as `_group_by_memory` returns them.
        number: the index of the tensor's own storage.
    """
    if facts.view is None:
        return facts
    own = storages[number]
    shared = [storages[other] for other in range(len(storages)) if groups[other] == groups[number]]
    start, end = min(one.start for one in shared), max(one.end for one in shared)
    before, size = own.start - start, facts.itemsize
    view = replace(facts.view, memory=groups[number])
    if before % size == 0 and own.start:
        view = replace(view, offset=view.offset + before // size, storage=(end - start) // size)
    return replace(facts, view=view)
