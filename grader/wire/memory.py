"""Memory that several tensors and arrays share.

A *block* is a range of addresses that one or more storages and arrays lie in; ranges that overlap are one block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import torch

from grader.wire.frames import Caps, ProtocolError
from grader.wire.table import LIMIT

Array: TypeAlias = np.ndarray[Any, Any]

MOST_DIMS = 64

_StorageBase: Any = torch._C.StorageBase
"""The class whose `data_ptr` is the address in this process; a storage on a simulated device has another `data_ptr`."""


class _Memory:
    """Raw memory that NumPy can view; after `Tensor.numpy` a later `resize_` would be forbidden."""

    def __init__(self, address: int, nbytes: int, owner: object) -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (address, False), "shape": (nbytes,), "typestr": "|u1", "version": 3}


class _ArrayDescription:
    """A description of an array, from which NumPy makes another array over its memory."""

    def __init__(self, array: Array) -> None:
        self.owner = array
        self.__array_interface__ = array.__array_interface__


def trial_view(array: Array) -> Array:
    """Return a second array over the same memory, to try out a change of shape or strides.

    NumPy cannot make some of these changes in place, and raises. It raises for the second array if it would for
    `array`, and `array` itself stays as it is.
    """
    return array[...] if isinstance(array.base, np.ndarray) else np.asarray(_ArrayDescription(array))


def dense_strides(array: Array) -> tuple[int, ...]:
    """Return the strides of a C-contiguous array of the same shape, in bytes.

    For float32 of shape (2, 3) they are `(12, 4)`.
    """
    strides, step = list[int](), array.itemsize
    for size in reversed(array.shape):
        strides.insert(0, step)
        step *= size
    return tuple(strides)


class MemoryBlock:
    """A range of memory that exists in both processes.

    Attributes:
        address, nbytes: where it lies.
        data: its bytes, which may be written to; keeps the owner alive.
        writable: True if the other process may change it.
        original: its bytes as they arrived, in the process that answers.
    """

    def __init__(self, address: int, nbytes: int, owner: object, *, writable: bool = True) -> None:
        self.address, self.nbytes, self.writable = address, nbytes, writable
        self.data: Array = np.asarray(_Memory(address, nbytes, owner)) if nbytes else np.empty(0, np.uint8)
        self.original: memoryview | None = None

    def storage(self, start: int, nbytes: int) -> torch.UntypedStorage:
        """Return a storage that shares the memory of a part of the block."""
        return torch.from_numpy(self.data[start : start + nbytes]).untyped_storage()


def byte_range(offset: int, shape: Sequence[int], strides: Sequence[int], itemsize: int) -> tuple[int, int]:
    """Return the byte offsets at which a view begins and ends.

    At offset 8, shape (2, 3) with strides (12, 4) and elements of 4 bytes returns `(8, 32)`. For an empty view, both
    are equal.

    Args:
        offset: the offset of the first element, in bytes.
        shape: the shape of the view.
        strides: its strides, in bytes.
        itemsize: the size of an element, in bytes.
    """
    low = high = offset
    for size, stride in zip(shape, strides, strict=True):
        if size == 0:
            return offset, offset
        if stride > 0:
            high += (size - 1) * stride
        else:
            low += (size - 1) * stride
    return low, high + itemsize


def host_address(storage: torch.UntypedStorage) -> int:
    """Return the address of a storage in the memory of this process.

    For a storage on a simulated device, it is the address of its CPU memory.
    """
    return int(_StorageBase.data_ptr(storage))


def address_range(value: torch.Tensor | Array) -> tuple[int, int]:
    """Return the addresses at which the memory of a tensor or an array begins and ends.

    The memory of a tensor is its whole storage; that of an array is the range of its elements.
    """
    if isinstance(value, torch.Tensor):
        storage = value.untyped_storage()
        start = host_address(storage)
        return start, start + storage.nbytes()
    address: int = value.__array_interface__["data"][0]
    return byte_range(address, value.shape, value.strides, value.itemsize)


def check_layout(shape: Any, strides: Any, offset: Any, unit: int, itemsize: int, nbytes: int, caps: Caps) -> None:
    """Raise `ProtocolError` for a layout with an element outside its memory.

    Shape [2, 3] and strides [3, 1] of float32 need 24 bytes, and are refused with 20. The check computes with Python's
    integers, which do not overflow.

    Args:
        shape: the shape, as another process sent it.
        strides: the strides, in units, as another process sent them.
        offset: the offset, in units, as another process sent it.
        unit: the bytes of a unit: 1 for an array, and the size of an element for a tensor.
        itemsize: bytes of an element.
        nbytes: the size of the memory.
        caps: the limits on one message.

    Raises:
        ProtocolError: the layout does not fit the memory, or is larger than the caps allow.
    """
    if type(shape) is not list or type(strides) is not list or not len(shape) == len(strides) <= MOST_DIMS:
        raise ProtocolError("invalid shape or strides")
    if type(offset) is not int or not 0 <= offset < LIMIT:
        raise ProtocolError("an invalid offset")
    total = itemsize
    for size, stride in zip(shape, strides, strict=True):
        if type(size) is not int or not 0 <= size < LIMIT or type(stride) is not int or abs(stride) >= LIMIT:
            raise ProtocolError("invalid size or stride")
        total *= size or 1  # NumPy multiplies the other sizes, too, if one of them is 0
    if total > nbytes and total > caps.most_bytes(nbytes):
        raise ProtocolError("too many elements")
    low, high = byte_range(offset, shape, strides, 1)
    if 0 not in shape and (low < 0 or (high - 1) * unit + itemsize > nbytes):
        raise ProtocolError("elements are out of bounds")
