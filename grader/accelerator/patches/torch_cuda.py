"""`torch.cuda` answers for the machine; what it cannot answer raises `NotImplementedError`."""

from __future__ import annotations

import sys
from typing import Any

import torch

from grader.accelerator.cuda import device_module
from grader.accelerator.refusals import refusing_function
from grader.accelerator.replacing import put, refusing_class
from grader.accelerator.sim.machine import Machine

_REFUSED = "torch.cuda.{} is not supported on the simulated device"


def install(machine: Machine) -> None:
    """Make the functions of `torch.cuda` answer for the simulated devices.

    `torch.cuda.device_count()` returns their number. A function that is not simulated, such as
    `torch.cuda.utilization`, raises `NotImplementedError`.
    """
    del machine
    owners = (torch.cuda, torch.cuda.memory, torch.cuda.random, torch.cuda.streams, torch.cuda.graphs)
    # PyTorch's own code calls some of these by the modules in which they are defined, so they are replaced there, too.
    for name, function in device_module.FUNCTIONS.items():
        for owner in owners:
            if owner is torch.cuda or hasattr(owner, name):
                put(owner, name, function)
    put(torch.cuda, "default_generators", device_module.default_generators())
    original_module = torch.get_device_module

    def get_device_module(device: Any = None) -> Any:
        # C++ knows the accelerator by its inner name.
        return torch.cuda if device is None else original_module(device)

    put(torch, "get_device_module", get_device_module)
    # These need no device, or are modules of their own, or other patches answer them.
    allowed = {"amp", "profiler", "nvtx", "tunable", "check_error", "cudaStatus", "has_half", "has_magma"}
    allowed |= {"memory_summary", "set_sync_debug_mode", "get_sync_debug_mode", "set_per_process_memory_fraction"}
    allowed |= {"CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing", "make_graphed_callables"}
    allowed |= {
        "MemPool",
        "use_mem_pool",
        "CudaError",
        "cudart",
        "max_memory_cached",
        "memory_cached",
        "reset_max_memory_cached",
        "is_tf32_supported",
    }
    # Whatever is left would ask CUDA's driver, which is not there. An error that names the function is better than one
    # of the driver's, and far better than a wrong answer.
    for name in torch.cuda.__all__:
        value = getattr(torch.cuda, name, None)
        if name in device_module.FUNCTIONS or name in allowed or name.endswith(("Tensor", "Storage")):
            continue
        if isinstance(value, type) and not issubclass(value, BaseException):
            new: Any = refusing_class(value, _REFUSED.format(name))
        elif callable(value) and not isinstance(value, type):
            new = refusing_function(_REFUSED.format(name))
        else:
            continue
        # In the module that defines it, too: some programs take it from there, and so do pickles.
        for owner in {*owners, sys.modules[value.__module__]}:
            if owner is torch.cuda or getattr(owner, name, None) is value:
                put(owner, name, new)
