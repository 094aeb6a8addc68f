"""CUDA, XPU, MTIA and MPS are hidden, apart from the device that is simulated."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Hide every accelerator but the simulated one, even if the computer has it.

    For example, `torch.xpu.is_available()` returns False.
    """
    hide_others(kept=machine.kind)


def hide_others(kept: str = "") -> None:
    """Hide all accelerators but `kept`, as in a build of PyTorch for the CPU.

    The accelerators are CUDA, XPU, MTIA and MPS. An empty `kept` hides them all: then `torch.cuda.is_available()`
    returns False, and `x.cuda()` raises.
    """

    def no() -> bool:
        return False

    def none() -> int:
        return 0

    # `_lazy_init` is what PyTorch calls before the first tensor is put on a device; there `.cuda()` has to fail.
    for name in {"cuda", "xpu", "mtia"} - {kept}:
        owner = getattr(torch, name, None)
        if owner is None:
            continue
        for function, answer in (("is_available", no), ("device_count", none), ("_lazy_init", _not_compiled(name))):
            if hasattr(owner, function):
                put(owner, function, answer)
    put(torch.backends.mps, "is_available", no)
    # With one that is simulated, `torch.accelerator` must answer for that one.
    if kept:
        return

    def no_accelerator(check_available: bool = False) -> None:
        del check_available

    put(torch.accelerator, "is_available", no)
    put(torch.accelerator, "device_count", none)
    put(torch.accelerator, "current_accelerator", no_accelerator)


def _not_compiled(name: str) -> Callable[[], None]:
    def refuse() -> None:
        raise AssertionError(f"Torch not compiled with {name.upper()} enabled")

    return refuse
