"""Functions of C++ that ask CUDA's driver raise `NotImplementedError`, unless this or another patch replaces them.

A build of PyTorch for the CPU does not have them, so that Python code stumbles over an AttributeError; a build for CUDA
has them, and they find no driver.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

from grader.accelerator.cuda import device_module, streams
from grader.accelerator.refusals import refusing_function
from grader.accelerator.replacing import forwarding_function, put
from grader.accelerator.sim.machine import Machine

_NO_DRIVER = "torch._C.{} asks CUDA's driver, which the simulated device does not have"

_MODULES = (
    *("torch.cuda", "torch.cuda.memory", "torch.cuda.random", "torch.cuda.streams", "torch.cuda.graphs"),
    *("torch.cuda.nccl", "torch.cuda.tunable", "torch.cuda.jiterator", "torch.cuda.gds", "torch.cuda.green_contexts"),
    *("torch.backends.cuda", "torch.backends.cudnn"),
)
"""The modules whose functions are read for what they call."""

_DRIVER = ("_cuda_", "_nccl_", "_cudnn_", "_gds_")
"""How the names of such functions of `torch._C` begin."""

_CALLED_BY_OTHERS = {
    *("_cuda_attach_out_of_memory_observer", "_cuda_beginAllocateCurrentStreamToPool"),
    *("_cuda_checkPoolLiveAllocations", "_cuda_getCheckpointState", "_cuda_setCheckpointPoolState"),
    *("_cuda_get_cudnn_benchmark_limit", "_cuda_set_cudnn_benchmark_limit", "_cuda_getHipblasltVersion"),
    *("_cuda_get_conv_benchmark_empty_cache", "_cudnn_set_conv_benchmark_empty_cache"),
    *("_cuda_hasPrimaryContext", "_cuda_isHistoryEnabled"),
}
"""Functions that builds for CUDA have, and that those modules do not call."""

_CLASS_OF_TREES = "_cuda_CUDAAllocator_AllocatorState"
"""A class that the compiler's module of graphs imports, which `torch.compiler.reset` loads, where CUDA is built in."""

_HARMLESS = {"_cuda_getDeviceCount", "_cuda_isInBadFork"}
"""Functions that need no driver: PyTorch looks whether the first one is there to know whether it was built for CUDA."""

_OF_THE_BUILD = {
    *("_cuda_getArchFlags", "_cuda_getCompiledVersion", "_nccl_version", "_nccl_version_suffix"),
    *("_cuda_get_cudnn_benchmark_limit", "_cuda_set_cudnn_benchmark_limit"),
    *("_cuda_get_conv_benchmark_empty_cache", "_cudnn_set_conv_benchmark_empty_cache"),
}
"""Functions that tell what a build for CUDA was built with, or keep its settings; they need no driver either."""


def install(machine: Machine) -> None:
    """Replace the functions of `torch._C` that call CUDA's driver, so that none reaches it.

    For example, `torch._C._cuda_getDevice()` returns the index of the current simulated device. A function that is not
    simulated, such as `_cuda_isHistoryEnabled`, raises `NotImplementedError`.
    """
    del machine
    for name, function in _SIMULATED.items():
        # Not the function itself: PyTorch's compiler has other rules for `torch.cuda.set_device`, and one per function.
        put(torch._C, name, forwarding_function(function))
    for name in sorted({*_called_driver_functions(), *_CALLED_BY_OTHERS} - _HARMLESS - set(_SIMULATED)):
        of_build = name in _OF_THE_BUILD and hasattr(torch._C, name)
        if not of_build and not isinstance(getattr(torch._C, name, None), type):
            put(torch._C, name, refusing_function(_NO_DRIVER.format(name)))
    if not hasattr(torch._C, _CLASS_OF_TREES):
        put(torch._C, _CLASS_OF_TREES, type("AllocatorState", (), {}))  # as that module makes it itself without CUDA
    # Fake tensors are CUDA's for C++, too, whose guard asks the driver. This is what PyTorch does without a GPU.
    torch._C._ensureCUDADeviceGuardSet()


def _set_stream(stream_id: int, device_index: int, device_type: int) -> None:
    """Make the stream with these numbers, and its device, the current ones."""
    streams.set_stream(streams.Stream(stream_id=stream_id, device_index=device_index, device_type=device_type))


def _numbers_of(stream: streams.Stream) -> tuple[int, int, int]:
    return stream.stream_id, stream.device_index, stream.device_type


def _exchange_device(index: int) -> int:
    """Make a device the current one, and return the index of the previous one.

    For a negative index, do nothing and return -1.
    """
    if index < 0:
        return -1
    before = device_module.current_device()
    device_module.set_device(index)
    return before


def _do_nothing() -> None:
    """Do nothing: no library has a workspace on the simulated device."""


_SIMULATED: dict[str, Callable[..., Any]] = {
    "_cuda_setStream": _set_stream,
    "_cuda_getCurrentStream": lambda index: _numbers_of(streams.current_stream(index)),
    "_cuda_getDefaultStream": lambda index: _numbers_of(streams.default_stream(index)),
    "_cuda_getCurrentRawStream": lambda index: streams.current_stream(index).cuda_stream,
    "_cuda_setDevice": device_module.set_device,
    "_cuda_getDevice": device_module.current_device,
    "_cuda_exchangeDevice": _exchange_device,
    "_cuda_maybeExchangeDevice": _exchange_device,
    "_cuda_synchronize": device_module.synchronize,
    "_cuda_canDeviceAccessPeer": device_module.can_device_access_peer,
    "_cuda_emptyCache": device_module.empty_cache,
    "_cuda_cudaCachingAllocator_is_enabled": lambda: True,
    "_cuda_clearCublasWorkspaces": _do_nothing,
    "_cuda_resetCublasWorkspaceSize": _do_nothing,
    "_cuda_resetCublasLtWorkspaceSize": _do_nothing,
}
"""What PyTorch's own test classes and other libraries call; `torch.testing` runs each test on a stream by the first."""


def _called_driver_functions() -> Iterator[str]:
    # PyTorch imports all of them; an older one has fewer.
    for module in filter(None, map(sys.modules.get, _MODULES)):
        for value in vars(module).values():
            for function in vars(value).values() if isinstance(value, type) else (value,):
                if isinstance(function := inspect.unwrap(_function_of(function)), types.FunctionType):
                    yield from (name for name in _names_in(function.__code__) if name.startswith(_DRIVER))


def _function_of(value: Any) -> Any:
    """Return the function in a static or class method, or a function itself.

    None for any other object.
    """
    if isinstance(value, (staticmethod, classmethod)):
        return value.__func__
    return value if isinstance(value, types.FunctionType) else None


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)
