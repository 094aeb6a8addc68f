"""`torch.cuda.FloatTensor`, `torch.cuda.sparse.FloatTensor` and their like."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.tensor import LEGACY, LEGACY_DEVICE, SimTensor
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine, the_machine


class _LegacyTypeMeta(type):
    """The metaclass of `torch.cuda.FloatTensor` and similar types: they make tensors, and work with `isinstance`."""

    made_by: Any
    dtype: torch.dtype
    layout: torch.layout

    def __call__(cls, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        if args and isinstance(args[0], (torch.TypedStorage, torch.UntypedStorage)):
            return torch.empty(0, dtype=cls.dtype, device=args[0].device).set_(args[0])
        if cls.layout is not torch.strided and args and isinstance(args[0], torch.Tensor):
            return torch.sparse_coo_tensor(*args, **kwargs)  # of indices and values, where they are
        machine = the_machine()
        if device is not None and not isinstance(device, int) and not machine.is_simulated(device):
            raise RuntimeError(LEGACY_DEVICE.format(machine.kind, torch.device(device).type))
        return cls.made_by(*args, **kwargs).cuda(device)

    # `isinstance(t, torch.cuda.FloatTensor)` asks the class of the class; no tensor is derived from that type.
    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, SimTensor) and (thing.dtype, thing.layout) == (cls.dtype, cls.layout)


def install(machine: Machine) -> None:
    """Add the legacy types, such as `FloatTensor`, to `torch.cuda` and `torch.cuda.sparse`.

    `torch.cuda.FloatTensor([1.0])` makes a float32 tensor on the device.
    """
    del machine
    for dtype, word in LEGACY.items():
        name = f"{word}Tensor"
        # `torch.FloatTensor` and its like make the tensor on the CPU; `.cuda()` then moves it, which is counted.
        for module, maker, layout in (
            (torch.cuda, torch, torch.strided),
            (torch.cuda.sparse, torch.sparse, torch.sparse_coo),
        ):
            if hasattr(module, name):  # no sparse type is for bools
                kind = {"made_by": staticmethod(getattr(maker, name)), "dtype": dtype, "layout": layout}
                kind |= {"is_cuda": True, "is_sparse": layout is torch.sparse_coo, "__module__": module.__name__}
                put(module, name, _LegacyTypeMeta(name, (), kind))
