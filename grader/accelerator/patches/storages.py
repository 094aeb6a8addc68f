"""Storages that move to the device, and that are made there."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.pinned_memory import mark_storage_pinned
from grader.accelerator.core.storage import ELSEWHERE, NO_HANDLES, SimStorage, convert_storage, move_storage
from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.refusals import refusing_function
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Let programs move storages to the device and back, and make them there.

    For a CPU tensor `x`, `x.untyped_storage().cuda()` returns a copy on the device. Handles by which another process
    could open the memory are refused.
    """
    _patch_moves(machine)
    _patch_constructors(machine)
    _patch_set()
    _refuse_handles()


def _patch_moves(machine: Machine) -> None:
    """Replace the methods by which storages move to the device and back."""
    original_to = torch.UntypedStorage.to

    def to(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
        if machine.is_simulated(device):
            return move_storage(self, device)
        if isinstance(self, SimStorage):
            made = self.cpu()
            # As with tensors: such a copy goes to pinned memory.
            return mark_storage_pinned(made) if non_blocking else made
        return original_to(self, device=device, non_blocking=non_blocking)

    def by_name(self: Any, device: Any = None, non_blocking: bool = False) -> SimStorage:
        del non_blocking
        return move_storage(self, device)

    put(torch.UntypedStorage, "to", to)
    put(torch.UntypedStorage, machine.kind, by_name)


def _patch_constructors(machine: Machine) -> None:
    """Let constructors make untyped and typed storages on the device."""
    original_new: Any = torch._C.StorageBase.__new__
    original_wrapped = torch.storage.TypedStorage._new_wrapped_storage

    def new(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        # C++ would ask the device for memory, which has none of its own, and the process would end.
        if not machine.is_simulated(device):
            # Of a storage of the device, the class makes one on the CPU, too, as PyTorch's only class does.
            cls = torch.UntypedStorage if issubclass(cls, SimStorage) else cls
            return original_new(cls, *args, **({} if device is None else {"device": device}), **kwargs)
        place = machine.devices[machine.index_of(device)]
        return convert_storage(original_new(torch.UntypedStorage, *args, device="cpu", **kwargs), place.public)

    def wrapped(self: Any, storage: Any) -> Any:
        # PyTorch's own asks for its own class of storages, and for no other.
        if not isinstance(storage, SimStorage):
            return original_wrapped(self, storage)
        typed: Any = torch.storage.TypedStorage
        if type(self) is typed:
            return typed(wrap_storage=storage, dtype=self.dtype, _internal=True)
        return type(self)(wrap_storage=storage)

    original_is: Any = torch.is_storage

    def is_storage(obj: Any, /) -> bool:
        return original_is(obj) or isinstance(obj, SimStorage)

    put(torch, "is_storage", is_storage)
    put(torch.UntypedStorage, "__new__", staticmethod(new))
    put(torch.storage.TypedStorage, "_new_wrapped_storage", wrapped)


def _patch_set() -> None:
    """Make `set_` of a CPU tensor raise for a storage of the device.

    C++ would take that storage for one of the CPU.
    """
    original: Any = torch.Tensor.set_

    def set_(self: torch.Tensor, source: Any = None, *args: Any, **kwargs: Any) -> Any:
        untyped = getattr(source, "_untyped_storage", source)
        if isinstance(untyped, SimStorage) and not isinstance(self, SimTensor):
            raise RuntimeError(ELSEWHERE.format(self.device, untyped.device))
        return original(self, *(() if source is None else (source,)), *args, **kwargs)

    put(torch.Tensor, "set_", set_)


def _refuse_handles() -> None:
    """Replace the functions that share memory by handles of the CUDA driver.

    The new functions raise. PyTorch's share the memory with another process.
    """

    def share(self: Any, *args: Any, **kwargs: Any) -> Any:
        del self, args, kwargs
        raise RuntimeError("_share_cuda_: only available on CUDA")

    put(torch.UntypedStorage, "_share_cuda_", share)
    for name in ("_new_shared_cuda", "_release_ipc_counter_cuda"):
        put(torch.UntypedStorage, name, staticmethod(refusing_function(NO_HANDLES)))
