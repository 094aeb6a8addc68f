"""What a tensor is: a view on a storage, with dtype and device; and what several of them share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

import numpy as np
import torch

from grader.model.picture import Window

MOST_VALUES = 512
"""So many values of a tensor are read, for the cells of a drawing."""

_SHORT = 8


@dataclass(frozen=True)
class Tensor:
    """A tensor's facts.

    Attributes:
        window: the view and its storage; None where PyTorch has no strides for it, as of a sparse tensor.
        name: what the student calls it.
        shape: its shape.
        dtype: without "torch.".
        device: such as "cpu" or "cuda:0".
        contiguous: whether its elements lie one behind another in the order of their indices.
        grad: "requires grad", "leaf that requires grad" or "".
        values: its first elements as text, in the order of their indices; none where they cannot be read.
        itemsize: bytes of an element.
    """

    window: Window | None
    name: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    contiguous: bool
    grad: str = ""
    values: tuple[str, ...] = ()
    itemsize: int = 1

    @property
    def sentence(self) -> str:
        """Its dtype, its device, and whether it is contiguous, with the reason."""
        parts = [f"{self.dtype} on {self.device}", *filter(None, [self.grad])]
        return f"{', '.join(parts)}; {self.contiguity}"

    @property
    def contiguity(self) -> str:
        """Whether it is contiguous, and why it is not."""
        if self.window is None:
            return f"shape {self.shape}; it has no strides, so no storage is drawn"
        wanted = contiguous_strides(self.shape)
        if self.contiguous:
            return "contiguous"
        dims = range(len(self.shape))
        wrong = [dim for dim in dims if self.shape[dim] > 1 and self.window.strides[dim] != wanted[dim]]
        dim = wrong[-1] if wrong else 0
        why = f"dim {dim} has stride {self.window.strides[dim]}, and contiguous strides are {wanted}"
        return f"not contiguous: {why}"


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a contiguous tensor, as PyTorch gives them to a new one."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(1, size)
    return tuple(reversed(strides))


@dataclass(frozen=True)
class _Memory:
    """Where a storage lies: addresses in bytes, or only an identity where memory has none that can be compared."""

    key: object
    start: int
    end: int


def facts_of(tensors: Mapping[str, Any]) -> list[Tensor]:
    """Return the facts of tensors and NumPy arrays, by name; those that share memory have windows on one storage.

    Raises:
        TypeError: one of them is neither.
    """
    found: list[Tensor] = []
    storages: list[_Memory] = []
    for name, value in tensors.items():
        facts, memory = _of_array(name, value) if isinstance(value, np.ndarray) else _of_tensor(name, value)
        found.append(facts)
        storages.append(memory)
    groups = _groups(storages)
    return [_placed(facts, storages, groups, number) for number, facts in enumerate(found)]


def _of_tensor(name: str, value: Any) -> tuple[Tensor, _Memory]:
    if not isinstance(value, torch.Tensor):
        raise TypeError(
            f"{name} is a {type(value).__name__}; draw takes tensors, NumPy arrays and shapes such as (2, 3)"
        )
    value = value.detach() if (grad := _grad(value)) else value
    shape, dtype = tuple(value.shape), str(value.dtype).removeprefix("torch.")
    window, memory, contiguous = None, _Memory(object(), 0, 0), False
    if value.layout is torch.strided and not value.is_nested:
        storage, size = value.untyped_storage(), value.element_size()
        key = storage._cdata
        address = storage.data_ptr() if value.device.type in ("cpu", "cuda") else 0
        memory = _Memory(key, address, address + storage.nbytes())
        strides = tuple(value.stride())
        window = Window(name, shape, strides, value.storage_offset(), storage.nbytes() // size)
        contiguous = value.is_contiguous()
    values = _texts(value) if window is not None and value.device.type != "meta" else ()
    facts = Tensor(window, name, shape, dtype, str(value.device), contiguous, grad, values, value.element_size())
    return facts, memory


def _grad(value: torch.Tensor) -> str:
    if not value.requires_grad:
        return ""
    return "a leaf that requires grad" if value.is_leaf else "requires grad"


def _of_array(name: str, value: np.ndarray[Any, Any]) -> tuple[Tensor, _Memory]:
    whole: Any = value
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    start, end = np.lib.array_utils.byte_bounds(whole)
    size = value.itemsize or 1
    address = value.__array_interface__["data"][0]
    strides = tuple(step // size for step in value.strides)
    window = Window(name, value.shape, strides, (address - start) // size, (end - start) // size)
    texts = tuple(_text(each) for each in islice(value.flat, MOST_VALUES))
    contiguous = bool(value.flags.c_contiguous)
    facts = Tensor(window, name, value.shape, str(value.dtype), "cpu (NumPy)", contiguous, "", texts, size)
    return facts, _Memory(id(whole), start, end)


def _texts(value: torch.Tensor) -> tuple[str, ...]:
    """The first elements as text."""
    if not value.numel():
        return ()
    # Only as many as are shown are read: an expanded tensor may have more elements than memory has.
    indices = islice(product(*(range(min(size, MOST_VALUES)) for size in value.shape)), MOST_VALUES)
    if value.numel() <= MOST_VALUES:
        flat = value.detach().resolve_conj().resolve_neg().cpu().reshape(-1)
        return tuple(_text(each) for each in flat.tolist())
    return tuple(_text(value[index].item()) for index in indices)


def _text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "T" if value else "F"
    if isinstance(value, (float, np.floating)):
        whole = f"{float(value):.4g}"
        return f"{whole}." if whole.lstrip("-").isdigit() else whole
    return str(value)[:_SHORT]


def _groups(storages: Sequence[_Memory]) -> list[int]:
    """Return for each the number of the first whose memory it shares."""
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


def _placed(facts: Tensor, storages: Sequence[_Memory], groups: Sequence[int], number: int) -> Tensor:
    """The same with a window on the memory of all that share it: NumPy and PyTorch may name another beginning."""
    if facts.window is None:
        return facts
    own = storages[number]
    shared = [storages[other] for other in range(len(storages)) if groups[other] == groups[number]]
    start, end = min(one.start for one in shared), max(one.end for one in shared)
    before, size = own.start - start, facts.itemsize
    window = replace(facts.window, memory=groups[number])
    if before % size == 0 and own.start:
        window = replace(window, offset=window.offset + before // size, storage=(end - start) // size)
    return replace(facts, window=window)


def elements_read(facts: Tensor, most: int = 1 << 16) -> set[int]:
    """Return the bytes of the storage, by the number of the first byte of an element, that a tensor's elements have."""
    window = facts.window
    if window is None or not math.prod(window.shape):
        return set()
    indices = islice(product(*(range(min(size, most)) for size in window.shape)), most)
    return {
        (window.offset + sum(step * at for step, at in zip(window.strides, index, strict=True))) * facts.itemsize
        for index in indices
    }


def shared_sentence(first: Tensor, second: Tensor) -> str:
    """Say what two tensors share."""
    if first.window is None or second.window is None:
        return ""
    names = f"{first.name} and {second.name}"
    if first.window.memory != second.window.memory:
        return f"{names} share no memory: writing into one does not change the other."
    mine, other = elements_read(first), elements_read(second)
    if first.itemsize != second.itemsize:
        return f"{names} are views on the same storage, with elements of {first.itemsize} and {second.itemsize} bytes."
    both = len(mine & other)
    if not both:
        return f"{names} are views on the same storage, but no element belongs to both."
    if mine == other:
        return f"{names} have all {both:,} elements of memory in common: writing into one changes the other."
    counts = f"of {len(mine):,} of {first.name} and {len(other):,} of {second.name}"
    common = f"{both:,} element{'s' if both > 1 else ''} of memory"
    return f"{names} have {common} in common, {counts}: writing there changes both."
