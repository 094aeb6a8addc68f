"""The storage of a tensor on a simulated device."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.refusals import refusal
from grader.accelerator.sim.addresses import address_of
from grader.accelerator.sim.counters import DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE
from grader.accelerator.sim.machine import the_machine


class SimStorage(torch.UntypedStorage):
    """The storage of a tensor on a simulated device: CPU memory whose `device` is the simulated one."""

    _place: torch.device

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The simulated device, by its public name."""
        return self._place

    @property
    def is_cuda(self) -> bool:
        """Whether the simulated device has the name `cuda`."""
        return self._place.type == "cuda"

    def is_shared(self) -> bool:
        """Return True, as on CUDA: another process can open the memory."""
        return True

    def data_ptr(self) -> int:
        """Return the address of the first byte on the device, a multiple of 512 as on CUDA.

        It is not the address of the CPU memory.
        """
        return address_of(self)

    def _share_cuda_(self, *args: Any, **kwargs: Any) -> Any:
        del args, kwargs
        raise refusal(NO_HANDLES)

    def _share_fd_cpu_(self, *args: Any, **kwargs: Any) -> Any:
        del args, kwargs
        raise RuntimeError("_share_fd_: only available on CPU")

    def _share_filename_cpu_(self, *args: Any, **kwargs: Any) -> Any:
        del args, kwargs
        raise RuntimeError("_share_filename_: only available on CPU")

    def cpu(self) -> torch.UntypedStorage:
        """Return a copy of the storage on the CPU."""
        machine = the_machine()
        machine.transfer(DEVICE_TO_HOST, machine.index_of(self._place), self.nbytes())
        return plain_copy(self)

    def __getitem__(self, index: Any) -> Any:
        item: Any = super().__getitem__(index)  # type: ignore[no-untyped-call]
        # A slice is a view of the same memory; Python has made it of our class, and without a device.
        return convert_storage(item, self._place) if isinstance(item, torch.UntypedStorage) else item

    def resize_(self, size: int) -> SimStorage:
        """Change the number of bytes in place.

        The device's count of allocated bytes changes immediately.
        """
        known = the_machine().blocks.get(self._cdata)
        block = None if known is None else known()
        if block is not None:
            # Before the host has to find the memory.
            block.memory.check_room(size - block.nbytes)
        the_machine().shrunk |= size < self.nbytes()
        super().resize_(size)
        if block is not None:
            block.resize()
        return self

    def new(self) -> SimStorage:
        """Return an empty storage on the same device."""
        return convert_storage(torch.UntypedStorage(0, device="cpu"), self._place)

    def clone(self) -> SimStorage:
        """Return a copy of the storage on the same device."""
        return convert_storage(plain_copy(self), self._place)

    def __deepcopy__(self, memo: dict[Any, Any]) -> SimStorage:
        # Under the key and in the form that PyTorch's own storages use, so that both find each other's copies.
        known = memo.setdefault("torch", {})
        if self._cdata not in known:
            known[self._cdata] = self.clone()
        return known[self._cdata]  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<torch.storage.UntypedStorage of size {self.nbytes()} on {self._place}>"


# Messages show what they would show of any storage.
SimStorage.__module__, SimStorage.__qualname__, SimStorage.__name__ = (
    "torch.storage",
    "UntypedStorage",
    "UntypedStorage",
)


ELSEWHERE = (
    'Attempted to set the storage of a tensor on device "{}" to a storage on different device "{}".  This is no longer '
    "allowed; the devices must match."
)
"""PyTorch's words, with the devices of the tensor and of the storage left open."""


NO_HANDLES = (
    "the memory of the simulated device has no handle of the CUDA driver that another process could open; send the "
    "tensor by a queue of torch.multiprocessing, which works"
)


def cpu_view_of(dtype: torch.dtype, storage: Any, *layout: Any) -> torch.Tensor:
    """Return a CPU tensor that is a view of a storage, even of a `SimStorage`.

    `cpu_view_of(torch.float32, storage, 0, (2, 3), (3, 1))` is a matrix of its first six numbers. `Tensor.set_` refuses
    a `SimStorage`.

    Args:
        dtype: the dtype of the tensor.
        storage: an untyped storage.
        layout: the offset, the sizes and the strides; without them, the tensor is 1-dim and has all of the storage.
    """
    made: torch.Tensor = torch._C.TensorBase.set_(torch.empty(0, dtype=dtype, device="cpu"), storage, *layout)
    return made


def plain_copy(storage: Any) -> torch.UntypedStorage:
    """Return an ordinary CPU storage with a copy of the bytes."""
    # `clone` of a storage would ask for its device, which is not that of its memory; so the bytes are copied by
    # tensors.
    made = torch.UntypedStorage(storage.nbytes(), device="cpu")  # for any default device
    to, source = (cpu_view_of(torch.uint8, one) for one in (made, storage))
    to.copy_(source)
    return made


def convert_storage(storage: torch.UntypedStorage, place: torch.device) -> SimStorage:
    """Change a CPU storage into a `SimStorage` of a device, and return it.

    No new object is made. The storage keeps its class as long as its memory exists, because PyTorch keeps one Python
    object for each storage.
    """
    if not hasattr(storage, "_place"):
        # PyTorch keeps one Python object for each storage. That object changes its class rather than being wrapped,
        # so that two tensors that share memory give the same one, as on any device.
        storage.__class__ = SimStorage
        storage._place = place  # type: ignore[attr-defined]
    return storage  # type: ignore[return-value]


def move_storage(storage: Any, device: Any) -> SimStorage:
    """Return a copy of a storage on a simulated device.

    A storage that is on this device already is returned itself.

    Args:
        storage: an untyped storage of the CPU or of a simulated device.
        device: the device that it moves to.
    """
    machine = the_machine()
    place = machine.devices[machine.index_of(device)]
    if isinstance(storage, SimStorage) and storage.device == place.public:
        return storage
    if isinstance(storage, SimStorage):
        source = machine.index_of(storage.device)
        machine.transfer(DEVICE_TO_DEVICE, place.index, storage.nbytes(), source=source, host_waits=False)
    else:
        machine.transfer(HOST_TO_DEVICE, place.index, storage.nbytes())
    return convert_storage(plain_copy(storage), place.public)
