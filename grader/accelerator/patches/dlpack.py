"""DLPack between tensors of PyTorch: both share the memory. Other libraries do not get the memory of the device."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


class _ExportedTensor:
    """The result of `to_dlpack` for a tensor of the device, in place of a DLPack capsule."""

    def __init__(self, tensor: SimTensor) -> None:
        self.tensor: Any = tensor


def install(machine: Machine) -> None:
    """Let `from_dlpack` share the memory of a tensor of the device, also after `to_dlpack`.

    PyTorch's own functions would look for memory in the wrapper, which has none. Those of `torch` and of
    `torch.utils.dlpack` are replaced.
    """
    # The function of C++'s knows the wrapper, which has no memory to hand out.
    original_to, original_from = torch._C._to_dlpack, torch.utils.dlpack.from_dlpack

    def to_dlpack(tensor: torch.Tensor) -> Any:
        return _ExportedTensor(tensor) if isinstance(tensor, SimTensor) else original_to(tensor)

    def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> torch.Tensor:
        """Return a tensor that shares the memory of `ext_tensor`.

        It is a copy if `copy` is True, or if `device` is another device than that of `ext_tensor`.
        """
        capsule = isinstance(ext_tensor, _ExportedTensor)
        given = ext_tensor.tensor if capsule else ext_tensor
        if not isinstance(given, SimTensor):
            others = {name: value for name, value in (("device", device), ("copy", copy)) if value is not None}
            return original_from(ext_tensor, **others)
        if given.requires_grad and not capsule:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if given.is_conj():
            raise BufferError("Can't export tensors with the conjugate bit set")
        target = given.device if device is None else torch.device(device)
        if machine.is_simulated(target):
            target = machine.devices[machine.index_of(target)].public
        if copy is False and target != given.device:
            kind = 2 if machine.is_simulated(target) else 1
            raise ValueError(
                f"cannot move DLPack tensor from device {given.__dlpack_device__()} to {(kind, target.index or 0)} "
                "without copying. Set copy=None or copy=True."
            )
        return given.detach().to(target, copy=bool(copy))

    for owner in (torch, torch.utils.dlpack):
        put(owner, "to_dlpack", to_dlpack)
        put(owner, "from_dlpack", from_dlpack)
