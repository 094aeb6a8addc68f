"""For programs that exchange tensors with a process where an accelerator is simulated.

`is_simulated` and `describe` can be asked beside code that cannot be trusted: they call no method that it could have
replaced on a tensor or a storage, and count nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch._C import TensorBase

from grader.accelerator.core.attributes import all_attributes
from grader.accelerator.core.storage import cpu_view_of
from grader.accelerator.core.tensor import PlainSimTensor, SimParameter, wrap
from grader.accelerator.sim.machine import the_machine

# Taken when the package is loaded, before any code of a student runs, which could put something else under these names.
_stride = TensorBase.stride
_size = TensorBase.size
_offset: Any = TensorBase.storage_offset
_detach = TensorBase.detach
_storage = TensorBase.untyped_storage
_nbytes: Any = torch._C.StorageBase.nbytes  # type: ignore[attr-defined]
_address: Any = torch._C.StorageBase._cdata.__get__  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Described:
    """The attributes of a tensor on a simulated device.

    Attributes:
        inner: the CPU tensor that holds the numbers, over the same memory; conj and neg bits included.
        device: the public name with the index, such as "sim:1".
        shape: its sizes.
        strides: the strides, in elements.
        offset: the offset of its first element in the storage.
        storage: a number that tensors have in common if they share memory; valid as long as one of them lives.
        storage_bytes: the size of that storage.
        requires_grad: True if autograd follows it.
    """

    inner: torch.Tensor
    device: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage: int
    storage_bytes: int
    requires_grad: bool


def is_simulated(value: Any) -> bool:
    """Return whether a value is a plain tensor or a parameter on a simulated device.

    Its type must be exactly `PlainSimTensor` or `SimParameter`: for a class derived from these, the result is False.
    """
    return type(value) is PlainSimTensor or type(value) is SimParameter


def to_device(tensor: torch.Tensor, index: int = 0) -> torch.Tensor:
    """Return a tensor on a simulated device that shares the memory of a CPU tensor.

    Tensors that share a storage share it on the device, too. Each storage is counted once as allocated memory; no
    operation, copy or time is counted.

    Args:
        tensor: a plain, dense CPU tensor.
        index: the index of the device; a storage is on one index only.

    Raises:
        torch.OutOfMemoryError: the device has no room for the storage.
        ValueError: the storage is on another index already.
    """
    place = the_machine().device(index)
    # Detached: a wrapper holds a plain CPU tensor, and autograd follows the wrapper, not what is inside.
    made = wrap(_detach(tensor), place)
    return made.requires_grad_() if tensor.requires_grad else made


def view_on_device(
    storage: torch.UntypedStorage,
    dtype: torch.dtype,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int = 0,
    index: int = 0,
) -> torch.Tensor:
    """Return a tensor on a simulated device that is a view of a CPU storage.

    All views of the storage share its memory.

    Args:
        storage: CPU memory; it must be long enough.
        dtype: the dtype of the tensor.
        sizes: its shape.
        strides: its strides, in elements.
        offset: the offset of its first element, in elements.
        index: the index of the device.
    """
    return to_device(cpu_view_of(dtype, storage, offset, sizes, strides), index)


def describe(tensor: torch.Tensor) -> Described:
    """Return the device, sizes, strides and storage of a tensor on a simulated device.

    No operation is counted.

    Raises:
        TypeError: `is_simulated` returns False for the value.
    """
    if not is_simulated(tensor):
        raise TypeError("this is not a tensor on a simulated device")
    # A plain look at an attribute would find a property first that somebody put on the class.
    state = all_attributes(tensor)
    inner, place = state["_inner"], state["_place"]
    storage = _storage(inner)
    return Described(
        inner=inner,
        device=f"{place.public}",
        shape=tuple(_size(inner)),
        strides=tuple(_stride(inner)),
        offset=_offset(inner),
        storage=_address(storage),
        storage_bytes=_nbytes(storage),
        requires_grad=TensorBase.requires_grad.__get__(tensor),  # type: ignore[attr-defined]
    )
