"""`pin_memory` and `is_pinned` of tensors and storages mark ordinary host memory."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import torch
from torch import library as torch_library

from grader.accelerator.core.pinned_memory import is_pinned, mark_pinned, mark_storage_pinned, storage_is_pinned
from grader.accelerator.core.storage import SimStorage, plain_copy
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Let programs pin host memory: `pin_memory` marks it, and `is_pinned` finds the mark.

    Copies between marked memory and the device take less virtual time, and need not block the host. For storages, these
    two methods are replaced; for tensors, the kernels of these operators.
    """
    del machine
    _register_kernels()

    def of_storage(self: torch.UntypedStorage, device: Any = None) -> bool:
        del device
        return not isinstance(self, SimStorage) and storage_is_pinned(self)

    def pin_bytes(self: torch.UntypedStorage, device: Any = None) -> torch.UntypedStorage:
        del device
        if isinstance(self, SimStorage):
            raise TypeError("cannot pin 'torch.storage.UntypedStorage' only CPU memory can be pinned")
        return self if of_storage(self) else mark_storage_pinned(plain_copy(self))

    put(torch.UntypedStorage, "pin_memory", pin_bytes)
    put(torch.UntypedStorage, "is_pinned", of_storage)


@functools.cache
def _register_kernels() -> torch_library.Library:
    """Register CPU kernels for the operators `_pin_memory` and `is_pinned`.

    They mark memory as pinned, and look for the mark. Return their library: the kernels last only as long as this
    object.

    The methods of tensors stay C++'s. So a class with a `__torch_dispatch__` of its own gets the operators, autograd
    records them, and the parts of a sparse tensor are pinned.
    """

    def pinned(tensor: torch.Tensor, device: Any = None) -> bool:
        if device is not None:
            warnings.warn(
                "The argument 'device' of Tensor.is_pinned() is deprecated. Please do not pass this argument.",
                DeprecationWarning,
                stacklevel=2,
            )
        return is_pinned(tensor)

    def pin(tensor: torch.Tensor, device: Any = None) -> torch.Tensor:
        del device
        # As C++ does it: the strides stay, and elements that share an address raise.
        return mark_pinned(torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype).copy_(tensor))

    library = torch_library.Library("aten", "IMPL")
    library.impl("is_pinned", pinned, "CPU")
    library.impl("_pin_memory", pin, "CPU")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Warning only once for all operators")  # C++ has a kernel under this key
        library.impl("is_pinned", pinned, "NestedTensorCPU")
    return library
