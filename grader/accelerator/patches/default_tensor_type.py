"""`torch.set_default_tensor_type(torch.cuda.FloatTensor)`, as old programs say."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Make `torch.set_default_tensor_type` accept types such as `torch.cuda.FloatTensor`.

    After a call with this type, `torch.zeros(2)` is a float32 tensor on the device.
    """
    original: Any = torch.set_default_tensor_type
    ours_before: list[str] = []
    original_new: Any = torch.Tensor.__new__

    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        # C++ makes `torch.Tensor(...)` of the default type, and knows no type of ours.
        if not ours_before or cls is not torch.Tensor or "device" in kwargs:
            return original_new(cls, *args, **kwargs)
        sizes = args[0] if len(args) == 1 and isinstance(args[0], torch.Size) else args
        if all(isinstance(size, int) for size in sizes):
            return torch.empty(sizes or (0,))
        return original_new(cls, *args, **kwargs).to(machine.kind)

    def set_default_tensor_type(kind: Any) -> None:
        """Make a type of tensors the default.

        For a type of the device, set the default dtype and the default device.
        """
        name = kind if isinstance(kind, str) else f"torch.{machine.kind}.{getattr(kind, '__name__', '')}"
        owner, _, word = name.rpartition(".")
        ours = getattr(torch.cuda, word, None) if owner == f"torch.{machine.kind}" else None
        if ours is None or not (isinstance(kind, str) or ours is kind):
            if ours_before:
                ours_before.clear()
                torch.set_default_device(None)
            original(kind)
            return
        ours_before[:] = [name]
        torch.set_default_dtype(ours.dtype)
        torch.set_default_device(machine.kind)
        put(torch.Tensor, "__new__", staticmethod(new))

    put(torch, "set_default_tensor_type", set_default_tensor_type)
