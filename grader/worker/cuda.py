"""Tensors on CUDA, told as CPU memory that mirrors theirs: tensors that share memory there share it on the wire.

A mirror is brought up to date when a tensor is told, and its device when a message has written into the mirror. All of
it is a claim, as everything that a worker says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.multiprocessing.reductions import StorageWeakRef


@dataclass
class _Mirror:
    host: torch.UntypedStorage
    device: StorageWeakRef
    place: torch.device
    last: torch.Tensor | None = None  # the bytes when both were last equal


class Mirrors:
    """The CPU memory that stands for the memory of tensors on an accelerator.

    Args:
        ours: whether a tensor is one that can be mirrored; its exact type is a plain tensor's.
    """

    def __init__(self, ours: Callable[[torch.Tensor], bool]) -> None:
        self._ours = ours
        self._by_device: dict[int, _Mirror] = {}
        self._by_host: dict[int, _Mirror] = {}

    def look(self, tensor: torch.Tensor) -> tuple[torch.Tensor, str] | None:
        """The CPU tensor over a mirror that is up to date, and the device; None for any other tensor."""
        if not self._ours(tensor):
            return None
        with torch.no_grad(), torch.inference_mode(False):
            storage = tensor.untyped_storage()
            mirror = self._mirror_of(storage, tensor.device)
            host = _bytes(mirror.host, torch.device("cpu"))
            host.copy_(_bytes(storage, tensor.device))
            mirror.last = host.clone()
            inner = _view(tensor, mirror.host, torch.device("cpu"))
        return inner, str(tensor.device)

    def place(self, tensor: torch.Tensor, device: str) -> torch.Tensor:
        """A CPU tensor of a message on the device, over memory that its storage mirrors from now on."""
        host, place = tensor.untyped_storage(), torch.device(device)
        with torch.no_grad(), torch.inference_mode(False):
            mirror = self._by_host.get(host._cdata)
            if mirror is None or mirror.device.expired() or mirror.host.nbytes() != host.nbytes():
                moved = _bytes(host, torch.device("cpu")).to(place)
                self._note(_Mirror(host, StorageWeakRef(moved.untyped_storage()), place), moved.untyped_storage())
                return _view(tensor, moved.untyped_storage(), place)
            there = torch.UntypedStorage._new_with_weak_ptr(mirror.device.cdata)
            return _view(tensor, there, mirror.place)

    def arrived(self) -> None:
        """A message has written into CPU memory: bring the devices up to date."""
        with torch.no_grad(), torch.inference_mode(False):
            for mirror in self._alive():
                host = _bytes(mirror.host, torch.device("cpu"))
                if mirror.last is None or not torch.equal(host, mirror.last):
                    there = torch.UntypedStorage._new_with_weak_ptr(mirror.device.cdata)
                    _bytes(there, mirror.place).copy_(host)
                    mirror.last = host.clone()

    def _mirror_of(self, storage: torch.UntypedStorage, place: torch.device) -> _Mirror:
        self._alive()
        mirror = self._by_device.get(storage._cdata)
        if mirror is None or mirror.host.nbytes() != storage.nbytes():
            mirror = _Mirror(torch.UntypedStorage(storage.nbytes(), device="cpu"), StorageWeakRef(storage), place)
            self._note(mirror, storage)
        return mirror

    def _note(self, mirror: _Mirror, storage: torch.UntypedStorage) -> None:
        self._by_device[storage._cdata] = self._by_host[mirror.host._cdata] = mirror

    def _alive(self) -> list[_Mirror]:
        """Mirrors of memory that is still there; all others are let go."""
        self._by_device = {key: mirror for key, mirror in self._by_device.items() if not mirror.device.expired()}
        self._by_host = {mirror.host._cdata: mirror for mirror in self._by_device.values()}
        return list(self._by_device.values())


def is_plain(tensor: torch.Tensor) -> bool:
    """Whether it is a plain tensor on CUDA."""
    plain = type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout is torch.strided
    return plain and tensor.device.type == "cuda" and not tensor.is_nested


def _bytes(storage: torch.UntypedStorage, place: torch.device) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=place).set_(storage)


def _view(like: torch.Tensor, storage: torch.UntypedStorage, place: torch.device) -> torch.Tensor:
    """A tensor over other memory, which looks at it in the same way."""
    view = torch.empty(0, dtype=like.dtype, device=place)
    view = view.set_(storage, like.storage_offset(), like.shape, like.stride())
    view = torch._conj(view) if like.is_conj() else view
    return torch._neg_view(view) if like.is_neg() else view
