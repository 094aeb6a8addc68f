"""Tensors that go to another process by a queue, a pipe or as an argument: they share the memory, as on CUDA."""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing import reductions

from grader.accelerator.core.storage import SimStorage, cpu_view_of
from grader.accelerator.core.tensor import SimTensor, wrap
from grader.accelerator.refusals import refusal
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine, machine_or_none


def install(machine: Machine) -> None:
    """Let programs send tensors of the device to another process, by a queue or a pipe.

    `torch.multiprocessing` moves their inner tensors to shared memory, so that both processes see the same numbers.
    """
    original: Any = reductions.reduce_tensor

    def reduce_tensor(tensor: torch.Tensor) -> Any:
        """Return the function and its arguments by which another process rebuilds a tensor.

        Pickle sends them. For a tensor of the device, the arguments contain a handle of its inner tensor in shared
        memory.
        """
        if not isinstance(tensor, SimTensor) or (tensor.requires_grad and not tensor.is_leaf):
            return original(tensor)  # which refuses one that is not a leaf
        if tensor._inner.layout is not torch.strided:
            raise refusal(
                f"a {tensor.layout} tensor on the simulated device {machine.kind} cannot be sent to another process; "
                "send its .cpu()"
            )
        is_parameter = isinstance(tensor, torch.nn.Parameter)
        inner = tensor._inner
        layout = inner.dtype, inner.storage_offset(), inner.size(), inner.stride()
        shared = _reduce_storage(inner.untyped_storage())
        return _rebuild_tensor, (*shared, layout, tensor._place.index, tensor.requires_grad, is_parameter)

    put(reductions, "reduce_tensor", reduce_tensor)
    # The table of what sends which class has the function itself.
    for kind in (torch.Tensor, torch.nn.Parameter):
        ForkingPickler.register(kind, reduce_tensor)


def _reduce_storage(storage: torch.UntypedStorage) -> Any:
    """Move a storage to shared memory, and return its `__reduce__` value.

    Another process opens the storage by this value.
    """
    if not isinstance(storage, SimStorage):
        return reductions.reduce_storage(storage)
    # PyTorch's function refuses a storage of CUDA's: it sends tensors by a handle of the driver's.
    plain: Any = storage
    kind = type(storage)
    plain.__class__ = torch.UntypedStorage
    try:
        return reductions.reduce_storage(storage)
    finally:
        plain.__class__ = kind


def _rebuild_tensor(
    rebuild: Any, parts: Any, layout: Any, index: int, requires_grad: bool, is_parameter: bool
) -> torch.Tensor:
    machine = machine_or_none()
    if machine is None:
        raise RuntimeError("a tensor on a simulated device came to a process that simulates none")
    # A process that was forked from one that used the device has none.
    machine.check_fault(index)
    dtype, *rest = layout
    made: torch.Tensor = wrap(cpu_view_of(dtype, rebuild(*parts), *rest), machine.devices[index])
    return torch.nn.Parameter(made, requires_grad) if is_parameter else made.requires_grad_(requires_grad)
