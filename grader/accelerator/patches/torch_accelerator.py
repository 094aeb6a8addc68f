"""`torch.accelerator` answers for the machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader.accelerator.cuda import device_module, graphs, streams
from grader.accelerator.replacing import put, refusing_class
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Make the functions of `torch.accelerator` answer for the simulated devices.

    In mode "cuda", `torch.accelerator.current_accelerator()` returns `torch.device("cuda")`, even without a GPU.
    """

    def current_accelerator(check_available: bool = False) -> torch.device:
        del check_available
        return torch.device(machine.kind)

    class device_index(streams.device):  # noqa: N801 (a class, as PyTorch's is)
        __module__ = "torch.accelerator"

    def for_device(answer: Callable[[int], Any], *, optional: bool = True) -> Callable[..., Any]:
        # PyTorch's own function reads the device, as it reads it for each accelerator: its errors are not CUDA's.
        def answer_for(device: Any = None) -> Any:
            return answer(torch.accelerator._utils._get_device_index(device, optional))

        return answer_for

    answers = {
        "current_accelerator": current_accelerator,
        "is_available": device_module.is_available,
        "device_count": device_module.device_count,
        "current_device_index": device_module.current_device,
        "current_device_idx": device_module.current_device,
        "set_device_index": for_device(device_module.set_device, optional=False),
        "set_device_idx": for_device(device_module.set_device, optional=False),
        "synchronize": for_device(device_module.synchronize),
        "current_stream": for_device(streams.current_stream),
        "set_stream": streams.set_stream,
        "device_index": device_index,
        "memory_allocated": for_device(device_module.memory_allocated),
        "max_memory_allocated": for_device(device_module.max_memory_allocated),
        "memory_reserved": for_device(device_module.memory_allocated),
        "max_memory_reserved": for_device(device_module.max_memory_allocated),
        "reset_peak_memory_stats": for_device(device_module.reset_peak_memory_stats),
        "reset_accumulated_memory_stats": for_device(device_module.reset_accumulated_memory_stats),
        "memory_stats": for_device(device_module.memory_stats),
        "get_memory_info": for_device(device_module.mem_get_info),
        "empty_cache": device_module.empty_cache,
        "empty_host_cache": device_module.empty_cache,
        "get_device_capability": for_device(device_module.get_supported_dtypes),
    }
    put(torch._C, "_get_accelerator", current_accelerator)
    if hasattr(torch._C, "_accelerator_isAllocatorInitialized"):
        put(torch._C, "_accelerator_isAllocatorInitialized", lambda: True)
    if hasattr(torch._C, "_accelerator_getDefaultGenerator"):  # `torch.accelerator.random` of PyTorch 2.14
        put(torch._C, "_accelerator_getDefaultGenerator", lambda index: machine.devices[index].generator)
    # Some of these names stand in both modules, some in one.
    for name, answer in answers.items():
        for owner in (torch.accelerator, torch.accelerator.memory):
            if hasattr(owner, name):
                put(owner, name, answer)
    if (original := getattr(torch.accelerator, "Graph", None)) is not None:
        why = "torch.accelerator.Graph is not supported on the simulated device"
        put(torch.accelerator, "Graph", graphs.Graph if machine.kind == "cuda" else refusing_class(original, why))
