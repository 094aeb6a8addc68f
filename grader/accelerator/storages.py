"""Memory beside operators: pinned memory, storages that move, tensors in files and for other libraries."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.machine import Machine
from grader.accelerator.pinning import is_pinned, pinned_bytes, pinned_copy
from grader.accelerator.replacing import put
from grader.accelerator.sim_storage import SimStorage, as_storage, plain_copy
from grader.accelerator.tally import DEVICE_TO_DEVICE, HOST_TO_DEVICE
from grader.accelerator.tensor import SimTensor, refresh


def replace_pinning() -> None:
    """Pinned memory, and what gives an address to other libraries."""

    def pin_memory(self: torch.Tensor, device: Any = None) -> torch.Tensor:
        del device
        return pinned_copy(self)

    def pinned(self: torch.Tensor, device: Any = None) -> bool:
        del device
        return self.layout is torch.strided and self.device.type == "cpu" and is_pinned(self)

    def of_storage(self: torch.UntypedStorage, device: Any = None) -> bool:
        del device
        return not isinstance(self, SimStorage) and getattr(self, "_pinned", False)

    def pin_bytes(self: torch.UntypedStorage, device: Any = None) -> torch.UntypedStorage:
        del device
        if isinstance(self, SimStorage):
            raise TypeError("cannot pin 'torch.storage.UntypedStorage' only CPU memory can be pinned")
        return self if of_storage(self) else pinned_bytes(plain_copy(self))

    def to_dlpack(tensor: torch.Tensor) -> Any:
        return tensor.__dlpack__() if isinstance(tensor, SimTensor) else original(tensor)

    # The function of C++'s knows the shell, which has no memory to hand out.
    original = torch._C._to_dlpack
    for owner in (torch, torch.utils.dlpack):
        put(owner, "to_dlpack", to_dlpack)
    put(torch.Tensor, "pin_memory", pin_memory)
    put(torch.Tensor, "is_pinned", pinned)
    put(torch.UntypedStorage, "pin_memory", pin_bytes)
    put(torch.UntypedStorage, "is_pinned", of_storage)


def replace_storages(machine: Machine) -> None:
    """Storages that move; `torch.save` and `torch.load`."""
    original_to = torch.UntypedStorage.to

    def moved(storage: Any, device: Any) -> SimStorage:
        place = machine.devices[machine.index_of(device)]
        if isinstance(storage, SimStorage) and storage.device == place.public:
            return storage
        if isinstance(storage, SimStorage):
            source = machine.index_of(storage.device)
            machine.transfer(DEVICE_TO_DEVICE, place.index, storage.nbytes(), source=source, blocks=False)
        else:
            machine.transfer(HOST_TO_DEVICE, place.index, storage.nbytes())
        return as_storage(plain_copy(storage), place.public)

    def to(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
        if machine.is_ours(device):
            return moved(self, device)
        if isinstance(self, SimStorage):
            made = self.cpu()
            # As with tensors: such a copy goes to pinned memory.
            return pinned_bytes(made) if non_blocking else made
        return original_to(self, device=device, non_blocking=non_blocking)

    def by_name(self: Any, device: Any = None, non_blocking: bool = False) -> SimStorage:
        del non_blocking
        return moved(self, device)

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

    put(torch.UntypedStorage, "to", to)
    put(torch.UntypedStorage, machine.kind, by_name)
    register: Any = torch.serialization.register_package
    register(1, location_of, restored)


def replace_new_storages(machine: Machine) -> None:
    """Storages that are made on the device, and typed ones around them."""
    original_new: Any = torch._C.StorageBase.__new__
    original_wrapped = torch.storage.TypedStorage._new_wrapped_storage

    def new(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        # C++ would ask the device for memory, which has none of its own, and the process would end.
        if not machine.is_ours(device):
            return original_new(cls, *args, **({} if device is None else {"device": device}), **kwargs)
        place = machine.devices[machine.index_of(device)]
        return as_storage(original_new(torch.UntypedStorage, *args, device="cpu", **kwargs), place.public)

    def wrapped(self: Any, storage: Any) -> Any:
        # PyTorch's own asks for its own class of storages, and for no other.
        if not isinstance(storage, SimStorage):
            return original_wrapped(self, storage)
        typed: Any = torch.storage.TypedStorage
        if type(self) is typed:
            return typed(wrap_storage=storage, dtype=self.dtype, _internal=True)
        return type(self)(wrap_storage=storage)

    original_is: Any = torch.is_storage

    def is_storage(obj: Any, /) -> bool:
        return original_is(obj) or isinstance(obj, SimStorage)

    put(torch, "is_storage", is_storage)
    put(torch.UntypedStorage, "__new__", staticmethod(new))
    put(torch.storage.TypedStorage, "_new_wrapped_storage", wrapped)


def replace_metadata() -> None:
    """Tensors in files that are conjugate or negative views."""
    original_metadata: Any = torch._utils.set_tensor_metadata

    def set_metadata(tensor: torch.Tensor, metadata: dict[str, bool]) -> None:
        if not isinstance(tensor, SimTensor):
            original_metadata(tensor, metadata)
            return
        # The bits are set on the numbers, then the shell follows.
        original_metadata(tensor._inner, metadata)
        refresh(tensor)

    put(torch._utils, "set_tensor_metadata", set_metadata)
