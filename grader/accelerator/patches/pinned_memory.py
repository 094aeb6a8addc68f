"""`pin_memory` and `is_pinned` of tensors and storages mark ordinary host memory."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.pinned_memory import is_pinned, mark_storage_pinned, pinned_copy, storage_is_pinned
from grader.accelerator.core.storage import SimStorage, plain_copy
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Replace `pin_memory` and `is_pinned` of tensors and storages."""
    del machine

    def pin_memory(self: torch.Tensor, device: Any = None) -> torch.Tensor:
        del device
        return pinned_copy(self)

    def pinned(self: torch.Tensor, device: Any = None) -> bool:
        del device
        return self.layout is torch.strided and self.device.type == "cpu" and is_pinned(self)

    def of_storage(self: torch.UntypedStorage, device: Any = None) -> bool:
        del device
        return not isinstance(self, SimStorage) and storage_is_pinned(self)

    def pin_bytes(self: torch.UntypedStorage, device: Any = None) -> torch.UntypedStorage:
        del device
        if isinstance(self, SimStorage):
            raise TypeError("cannot pin 'torch.storage.UntypedStorage' only CPU memory can be pinned")
        return self if of_storage(self) else mark_storage_pinned(plain_copy(self))

    put(torch.Tensor, "pin_memory", pin_memory)
    put(torch.Tensor, "is_pinned", pinned)
    put(torch.UntypedStorage, "pin_memory", pin_bytes)
    put(torch.UntypedStorage, "is_pinned", of_storage)
