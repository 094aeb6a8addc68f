"""Tensors of the device in files."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.storage import SimStorage, move_storage
from grader.accelerator.core.tensor import SimTensor, refresh_metadata
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Let `torch.save` and `torch.load` write and read tensors of the device.

    `torch.load` puts a tensor that was saved from `cuda:1` on `cuda:1` again. The tensors may be conjugate or negative
    views.
    """
    _register_storages(machine)
    _patch_view_metadata()
    rebuild: Any = torch._tensor._rebuild_from_type_v2

    def rebuild_with_attributes(func: Any, new_type: Any, args: Any, state: Any) -> Any:
        # PyTorch's own compares the class by `is`, and makes another tensor, which is not a leaf.
        if new_type is torch.Tensor:
            return torch._utils._set_obj_state(func(*args), state)
        return rebuild(func, new_type, args, state)

    put(torch._tensor, "_rebuild_from_type_v2", rebuild_with_attributes)


def _register_storages(machine: Machine) -> None:
    """Register how `torch.save` and `torch.load` handle storages of the device.

    `torch.save` names the device of a storage, such as `cuda:1`; `torch.load` moves a storage to that device.
    """

    # `torch.save` asks the registered packages, in the order of their numbers, where a storage lies; `torch.load` asks
    # them to put it there. The first that answers is believed.
    def location_of(storage: Any) -> str | None:
        return str(storage.device) if isinstance(storage, SimStorage) else None

    def restored(storage: Any, location: str) -> SimStorage | None:
        if not machine.is_simulated(location):
            return None
        wanted, there, name = torch.device(location).index or 0, len(machine.devices), machine.kind
        # A file may come from a machine with more devices.
        if wanted >= there:
            raise RuntimeError(
                f"Attempting to deserialize object on {name.upper()} device {wanted} but torch.{name}.device_count() "
                f"is {there}. Please use torch.load with map_location to map your storages to an existing device."
            )
        return move_storage(storage, location)

    register: Any = torch.serialization.register_package
    register(1, location_of, restored)


def _patch_view_metadata() -> None:
    """Let `torch.load` restore tensors of the device that are conjugate or negative views."""
    original_metadata: Any = torch._utils.set_tensor_metadata

    def set_metadata(tensor: torch.Tensor, metadata: dict[str, bool]) -> None:
        if not isinstance(tensor, SimTensor):
            original_metadata(tensor, metadata)
            return
        # The bits are set on the inner tensor, then the wrapper follows.
        original_metadata(tensor._inner, metadata)
        refresh_metadata(tensor)

    put(torch._utils, "set_tensor_metadata", set_metadata)
