"""Pinned host memory: ordinary memory with a mark on its storage, which makes its transfers faster."""

from __future__ import annotations

import torch

from grader.accelerator.sim.machine import the_machine

_registered: dict[int, int] = {}
"""By its address, the number of bytes of each range of host memory that the program gave to `cudaHostRegister`."""


def is_pinned(tensor: torch.Tensor) -> bool:
    """Return whether a CPU tensor is in pinned memory."""
    return tensor.layout is torch.strided and storage_is_pinned(tensor.untyped_storage())


def storage_is_pinned(storage: torch.UntypedStorage) -> bool:
    """Return whether a CPU storage is in pinned memory.

    It is marked as pinned, or lies in memory that the program registered.
    """
    if getattr(storage, "_pinned", False):
        return True
    address = storage.data_ptr() if _registered else 0
    return any(start <= address < start + nbytes for start, nbytes in _registered.items())


def register_host_memory(address: int, nbytes: int) -> bool:
    """Pin a range of host memory, and return True if this succeeded.

    If part of the range is registered already, nothing changes and the result is False.
    """
    the_machine().reached_driver = True
    if any(start < address + nbytes and address < start + size for start, size in _registered.items()):
        return False
    _registered[address] = nbytes
    return True


def unregister_host_memory(address: int) -> bool:
    """Unpin the range that was registered at an address, and return True if this succeeded.

    If no range was registered there, the result is False.
    """
    return _registered.pop(address, None) is not None


def mark_pinned(tensor: torch.Tensor) -> torch.Tensor:
    """Mark the storage of a CPU tensor as pinned, and return the tensor."""
    # Python keeps this object as long as the memory lives, so every tensor over the memory finds the mark.
    mark_storage_pinned(tensor.untyped_storage())
    return tensor


def mark_storage_pinned(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """Mark a CPU storage as pinned, and return it."""
    the_machine().reached_driver = True
    storage._pinned = True  # type: ignore[attr-defined]
    return storage
