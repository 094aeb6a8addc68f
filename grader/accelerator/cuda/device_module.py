"""What `torch.sim` offers, and `torch.cuda` in mode cuda: the same functions, answered by the simulated machine."""

from __future__ import annotations

import contextlib
import re
import types
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import torch

from grader.accelerator.cuda import memory_snapshots
from grader.accelerator.cuda.streams import (
    Event,
    Stream,
    current_stream,
    default_stream,
    device,
    device_of,
    set_stream,
    stream,
)
from grader.accelerator.refusals import refusal
from grader.accelerator.sim.fork import was_forked_after_use
from grader.accelerator.sim.machine import Device, the_machine

_UNKNOWN = {
    *("L2_cache_size", "clock_rate", "memory_bus_width", "memory_clock_rate"),
    *("pci_bus_id", "pci_device_id", "pci_domain_id", "uuid"),
}
"""What CUDA reports about a device, and the data sheets of the specs do not have."""


@dataclass(frozen=True, repr=False)
class Properties:
    """The properties of a device, as `get_device_properties` returns them."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    max_threads_per_multi_processor: int
    # The same for all of CUDA's devices of the last ten years.
    warp_size: int = 32
    regs_per_multiprocessor: int = 65536
    max_threads_per_block: int = 1024
    shared_memory_per_block: int = 49152
    # A kernel must ask for more than the usual; the rest of a multiprocessor's is CUDA's own.
    shared_memory_per_block_optin: int = 49152
    shared_memory_per_multiprocessor: int = 65536
    gcnArchName: str = ""  # noqa: N815
    is_integrated: bool = False
    is_multi_gpu_board: bool = False

    def __getattr__(self, name: str) -> Any:
        if name in _UNKNOWN:
            raise refusal(f"the {name} of a device is not known of the simulated device")
        raise AttributeError(f"'_CudaDeviceProperties' object has no attribute {name!r}")

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory >> 20}MB, multi_processor_count={self.multi_processor_count})"
        )


_THREADS = {(7, 5): 1024, (8, 6): 1536, (8, 9): 1536}
"""Of a multiprocessor, by capability; 2048 with any other."""

_SHARED = {(7, 0): 96, (7, 5): 64, (8, 0): 164, (8, 6): 100, (8, 9): 100, (9, 0): 228, (10, 0): 228}
"""KiB of shared memory of a multiprocessor, by capability: table "Technical Specifications" of CUDA's guide."""


def _simulated_device(device: Any = None) -> Device:
    machine = the_machine()
    return machine.devices[machine.index_of(device)]


def is_available() -> bool:
    """Return whether there is a device: True unless CUDA_VISIBLE_DEVICES hides all devices.

    As on CUDA, the call reaches the driver: a process that is forked afterwards cannot use the devices.
    """
    the_machine().reached_driver = True
    return device_count() > 0


def is_initialized() -> bool:
    """Return whether this process has used the devices.

    False in a process that was forked from one that had used them.
    """
    return the_machine().used and not was_forked_after_use(the_machine())


def init() -> None:
    """Initialize the devices, as `torch.cuda.init` does: they count as used from now on.

    Raises:
        RuntimeError: no device is visible, a kernel has failed on the first device, or this process was forked from one
            that had used the devices.
    """
    machine = the_machine()
    machine.apply_visible_devices()
    machine.check_fault(0)


# `torch.manual_seed` asks for it by this name before it seeds the device.
def _is_in_bad_fork() -> bool:
    return was_forked_after_use(the_machine())


def device_count() -> int:
    """Return the number of simulated devices that CUDA_VISIBLE_DEVICES does not hide."""
    machine = the_machine()
    with contextlib.suppress(RuntimeError):  # all are hidden
        machine.apply_visible_devices(use=False)
    return len(machine.devices)


def current_device() -> int:
    """Return the index of the current device."""
    return the_machine().current


def set_device(device: Any) -> None:
    """Make a device the current one; a negative index changes nothing."""
    machine = the_machine()
    machine.current = machine.required_index(device)


def synchronize(device: Any = None) -> None:
    """Let the host wait until all streams of a device are empty."""
    the_machine().synchronize(device)


def get_device_name(device: Any = None) -> str:
    """Return the name of the GPU that is imitated, such as "NVIDIA A100-SXM4-40GB".

    It is "Simulated GPU" if none is imitated.
    """
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Return the compute capability of the simulated device, such as (8, 0)."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def get_device_properties(device: Any = None) -> Properties:
    """Return the name, the memory, the compute capability and other properties of a device.

    Raises:
        AssertionError: there is no such device, as in `torch.cuda`.
    """
    machine = the_machine()
    index = machine.current if device is None else device if isinstance(device, int) else torch.device(device).index
    if index is not None and not 0 <= index < len(machine.devices):
        raise AssertionError("Invalid device id")
    _simulated_device(device)
    spec = machine.spec
    shared = _SHARED.get(spec.capability, 64)
    return Properties(
        spec.name,
        *spec.capability,
        total_memory=spec.memory,
        multi_processor_count=spec.processors,
        max_threads_per_multi_processor=_THREADS.get(spec.capability, 2048),
        # From capability 8.0 on, CUDA takes 1 KiB of each block for itself.
        shared_memory_per_block_optin=1024 * (shared - (spec.capability >= (8, 0))),
        shared_memory_per_multiprocessor=1024 * shared,
        gcnArchName=spec.name,
    )


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Return whether two devices can copy to each other directly.

    True for any two devices; False for a device and itself.
    """
    return _simulated_device(device) is not _simulated_device(peer_device)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether the device computes in bfloat16.

    True for every device if `including_emulation` is True, otherwise for compute capability 8.0 and above.
    """
    return including_emulation or the_machine().spec.capability >= (8, 0)


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Return the dtypes that `torch.autocast` can use on the device."""
    return [torch.float16, torch.bfloat16]


_NOT_CONVERTED = re.compile(r"torch\.(qu?int|bits|u?int[1-7]$|float4)")
"""The dtypes that PyTorch has no conversions for, or whose conversions need a quantizer."""


def get_supported_dtypes(device: Any = None) -> dict[str, Any]:
    """Return the dtypes that tensors can be converted to, in a dict with one key.

    Its key is "supported_dtypes", and its value is the set of these dtypes. `torch.accelerator.get_device_capability`
    returns such a dict.
    """
    _simulated_device(device)
    dtypes = {value for value in vars(torch).values() if isinstance(value, torch.dtype)}
    return {"supported_dtypes": {dtype for dtype in dtypes if not _NOT_CONVERTED.match(str(dtype))}}


def memory_allocated(device: Any = None) -> int:
    """Return the bytes of a device's memory that tensors take now."""
    return _simulated_device(device).memory.current


def max_memory_allocated(device: Any = None) -> int:
    """Return the largest number of bytes that tensors took at one time.

    It is counted from the start of the program, or from the last `reset_peak_memory_stats`.
    """
    return _simulated_device(device).memory.peak


def reset_peak_memory_stats(device: Any = None) -> None:
    """Set the peaks of a device's memory statistics to the current values."""
    memory = _simulated_device(device).memory
    memory.peak = memory.current
    memory.statistics.reset_peak()


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Set the sums of the memory that a device allocated and freed to zero."""
    _simulated_device(device).memory.statistics.reset_accumulated()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return the free and the total bytes of a device's memory."""
    memory = _simulated_device(device).memory
    return memory.capacity - memory.current, memory.capacity


def memory_stats(device: Any = None) -> OrderedDict[str, int]:
    """Return the memory statistics of a device, by CUDA's names.

    A program with one tensor of 4 bytes has `{"allocated_bytes.all.current": 512, ...}`, as the allocator rounds up.
    Nothing is cached, so reserved bytes equal allocated bytes.
    """
    return OrderedDict(_simulated_device(device).memory.statistics.as_dict())


def empty_cache() -> None:
    """Count the call in the memory statistics, and do nothing else: there is no cache."""
    for place in the_machine().devices:
        place.memory.statistics.emptied += 1


def ipc_collect() -> None:
    """Do nothing: no memory is shared by CUDA IPC handles."""


def manual_seed(seed: int) -> None:
    """Seed the generator of the current device.

    The call does not count as a use of the devices.
    """
    machine = the_machine()
    for place in machine.devices[machine.current :][:1]:
        place.generator.manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all devices."""
    for place in the_machine().devices:
        place.generator.manual_seed(seed)


def seed() -> None:
    """Seed the generator of the current device with a random number."""
    _simulated_device().generator.seed()


def seed_all() -> None:
    """Seed the generators of all devices with the same random number."""
    manual_seed_all(torch._C.Generator().seed())


def initial_seed() -> int:
    """Return the seed of the current device's generator."""
    return _simulated_device().generator.initial_seed()


def get_rng_state(device: Any = None) -> torch.Tensor:
    """Return the state of a device's generator, on the CPU."""
    return _simulated_device(device).generator.get_state()


def get_rng_state_all() -> list[torch.Tensor]:
    """Return the states of the generators of all devices, on the CPU."""
    return [place.generator.get_state() for place in the_machine().devices]


def set_rng_state(new_state: torch.Tensor, device: Any = None) -> None:
    """Set the state of a device's generator."""
    _simulated_device(device).generator.set_state(new_state)


def set_rng_state_all(new_states: list[torch.Tensor]) -> None:
    """Set the states of the generators of all devices."""
    for place, state in zip(the_machine().devices, new_states, strict=True):
        place.generator.set_state(state)


def default_generators() -> tuple[torch.Generator, ...]:
    """Return the generators of all devices."""
    return tuple(place.generator for place in the_machine().devices)


FUNCTIONS: dict[str, Any] = {
    function.__name__: function
    for function in (
        *(is_available, is_initialized, init, _is_in_bad_fork, device_count, current_device, set_device, synchronize),
        *(get_device_name, get_device_capability, get_device_properties, can_device_access_peer, is_bf16_supported),
        *(memory_allocated, max_memory_allocated, reset_peak_memory_stats, mem_get_info),
        *(
            reset_accumulated_memory_stats,
            memory_stats,
            empty_cache,
            ipc_collect,
            manual_seed,
            manual_seed_all,
            seed,
            seed_all,
            initial_seed,
        ),
        *(get_rng_state, get_rng_state_all, set_rng_state, set_rng_state_all, Event, Stream, current_stream),
        *(default_stream, set_stream, stream, device, device_of),
    )
} | {
    "_lazy_init": init,
    # What is reserved is what tensors take: nothing is cached.
    "memory_reserved": memory_allocated,
    "max_memory_reserved": max_memory_allocated,
    "reset_max_memory_allocated": reset_peak_memory_stats,
    "StreamContext": stream,
    **memory_snapshots.FUNCTIONS,
}
"""The functions of this module, by the names they have in `torch.cuda`."""


def make_module(name: str) -> types.ModuleType:
    """Return a new module `torch.<name>` with the simulated functions of `torch.cuda`.

    They are those of `FUNCTIONS`. `get_amp_supported_dtype` is added, which `torch.cuda` does not have.
    """
    module = types.ModuleType(f"torch.{name}", "A simulated device; see grader.accelerator.")
    vars(module).update(FUNCTIONS)
    # PyTorch asks it of devices that it does not know; `torch.cuda` has no such function.
    vars(module)["get_amp_supported_dtype"] = get_amp_supported_dtype
    return module
