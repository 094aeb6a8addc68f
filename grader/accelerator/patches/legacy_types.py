"""`torch.cuda.FloatTensor` and its like."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.tensor import LEGACY, SimTensor
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


class _LegacyKind(type):
    """The class of `torch.cuda.FloatTensor` and similar types: they make tensors, and work with `isinstance`."""

    made_by: Any
    dtype: torch.dtype

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], (torch.TypedStorage, torch.UntypedStorage)):
            return torch.empty(0, dtype=cls.dtype, device=args[0].device).set_(args[0])
        return cls.made_by(*args, **kwargs).cuda()

    # `isinstance(t, torch.cuda.FloatTensor)` asks the class of the class; no tensor is derived from that type.
    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, SimTensor) and thing.dtype is cls.dtype


def install(machine: Machine) -> None:
    """Put a class for each legacy type, such as `FloatTensor`, into `torch.cuda`."""
    del machine
    for dtype, word in LEGACY.items():
        name = f"{word}Tensor"
        # `torch.FloatTensor` and its like make the tensor on the CPU; `.cuda()` then moves it, which is counted.
        made_by = getattr(torch, name)
        put(torch.cuda, name, _LegacyKind(name, (), {"made_by": staticmethod(made_by), "dtype": dtype}))
