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

    def there(self) -> torch.UntypedStorage:
        """The memory on the device, which must be alive."""
        return torch.UntypedStorage._new_with_weak_ptr(self.device.cdata)


class Mirrors:
    """The CPU memory that stands for the memory of tensors on an accelerator.

    Args:
        ours: whether a tensor is one that can be mirrored; its exact type is a plain tensor's.
    """

    def __init__(self, ours: Callable[[torch.Tensor], bool]) -> None:
        self._ours = ours
        self._mirrors: list[_Mirror] = []

    def look(self, tensor: torch.Tensor) -> tuple[torch.Tensor, str] | None:
        """The CPU tensor over a mirror that is up to date, and the device; None for any other tensor."""
        if not self._ours(tensor):
            return None
        with torch.no_grad(), torch.inference_mode(False):
            # In the modes of plain PyTorch, whatever the student's code has switched on: a tensor that is made in
            # inference mode could not be written to later.
            storage = tensor.untyped_storage()
            mirror = self._mirror_of(storage, tensor.device)
            host = _bytes(mirror.host, torch.device("cpu"))
            host.copy_(_bytes(storage, tensor.device))
            mirror.last = host.clone()
            inner = _view(tensor, mirror.host, torch.device("cpu"))
        return inner, str(tensor.device)

    def place(self, tensor: torch.Tensor, device: str) -> torch.Tensor:
        """A CPU tensor of a message on the device, over memory that its storage mirrors from now on."""
        host = tensor.untyped_storage()
        with torch.no_grad(), torch.inference_mode(False):
            # Two tensors of one memory must share it on the device, too.
            for mirror in self._alive():
                if mirror.host._cdata == host._cdata:
                    return _view(tensor, mirror.there(), mirror.place)
            moved = _bytes(host, torch.device("cpu")).to(torch.device(device)).untyped_storage()
            self._mirrors.append(_Mirror(host, StorageWeakRef(moved), torch.device(device)))
            return _view(tensor, moved, torch.device(device))

    def arrived(self) -> None:
        """A message has written into CPU memory: bring the devices up to date."""
        with torch.no_grad(), torch.inference_mode(False):
            for mirror in self._alive():
                host = _bytes(mirror.host, torch.device("cpu"))
                # Where nothing was written, the device's own newer numbers must not be overwritten.
                if mirror.last is None or not torch.equal(host, mirror.last):
                    _bytes(mirror.there(), mirror.place).copy_(host)
                    mirror.last = host.clone()

    def _mirror_of(self, storage: torch.UntypedStorage, place: torch.device) -> _Mirror:
        for mirror in self._alive():
            if mirror.there()._cdata == storage._cdata and mirror.host.nbytes() == storage.nbytes():
                return mirror
        # The device's memory is held weakly: a mirror must not keep alive what the student has dropped.
        host = torch.UntypedStorage(storage.nbytes(), device="cpu")
        self._mirrors.append(_Mirror(host, StorageWeakRef(storage), place))
        return self._mirrors[-1]

    def _alive(self) -> list[_Mirror]:
        """Mirrors of memory that is still there; all others are let go."""
        self._mirrors = [mirror for mirror in self._mirrors if not mirror.device.expired()]
        return self._mirrors


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
    # Conjugation and negation are bits of the tensor, not numbers in memory; they are not copied with it.
    view = torch._conj(view) if like.is_conj() else view
    return torch._neg_view(view) if like.is_neg() else view
