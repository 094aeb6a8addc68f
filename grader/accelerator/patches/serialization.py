"""Tensors of the device in files."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.storage import SimStorage, moved
from grader.accelerator.core.tensor import SimTensor, refresh
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Let `torch.save` and `torch.load` know storages of the device, and views of tensors that are in files."""
    _know_storages(machine)
    _know_views()


def _know_storages(machine: Machine) -> None:
    # `torch.save` asks the registered packages, in the order of their numbers, where a storage lies; `torch.load` asks
    # them to put it there. The first that answers is believed.
    def location_of(storage: Any) -> str | None:
        return str(storage.device) if isinstance(storage, SimStorage) else None

    def restored(storage: Any, location: str) -> SimStorage | None:
        if not machine.is_ours(location):
            return None
        wanted, there, name = torch.device(location).index or 0, len(machine.devices), machine.kind
        # A file may come from a machine with more devices.
        if wanted >= there:
            raise RuntimeError(
                f"Attempting to deserialize object on {name.upper()} device {wanted} but torch.{name}.device_count() "
                f"is {there}. Please use torch.load with map_location to map your storages to an existing device."
            )
        return moved(storage, location)

    register: Any = torch.serialization.register_package
    register(1, location_of, restored)


def _know_views() -> None:
    """Let files hold tensors that are conjugate or negative views."""
    original_metadata: Any = torch._utils.set_tensor_metadata

    def set_metadata(tensor: torch.Tensor, metadata: dict[str, bool]) -> None:
        if not isinstance(tensor, SimTensor):
            original_metadata(tensor, metadata)
            return
        # The bits are set on the numbers, then the shell follows.
        original_metadata(tensor._inner, metadata)
        refresh(tensor)

    put(torch._utils, "set_tensor_metadata", set_metadata)
