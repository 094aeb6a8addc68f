"""Queries: what `torch.accelerator` and `torch.cuda` say, and what says that there is no other accelerator."""

from __future__ import annotations

import importlib
import time
import timeit
from collections.abc import Callable
from typing import Any

import torch
from torch._C import TensorBase

from grader.accelerator import device_module, streams
from grader.accelerator.generators import SimGenerator, generator_type
from grader.accelerator.machine import Machine, the_machine
from grader.accelerator.replacing import put, refusing_class
from grader.accelerator.tensor import LEGACY, SimTensor

_REFUSED = "torch.cuda.{} is not supported on the simulated device"


def replace_classes(machine: Machine) -> None:
    """`torch.Generator`, `torch.Event` and `torch.Stream`."""

    def make(device: Any) -> SimGenerator | None:
        if not isinstance(device, int) and not machine.is_ours(device):
            return None
        public = machine.devices[machine.index_of(device)].public
        # A generator has an index only where one was given.
        named = isinstance(device, int) or torch.device(device).index is not None
        return SimGenerator(public if named else torch.device(machine.kind))

    # Layers like `nn.LSTM` ask this before they lay out their weights for cuDNN, which is not there.
    put(torch.backends.cudnn, "is_acceptable", lambda tensor: False)
    # These are types of C++'s, which know nothing of our seeds and of the virtual clock: stand-ins take their names.
    # `torch.Generator` still gives one of PyTorch's own for any other device.
    put(torch, "Generator", generator_type(make))
    put(torch, "Event", streams.AnyEvent)
    put(torch, "Stream", streams.Stream)


def replace_timer() -> None:
    """Let PyTorch's benchmark timer wait for the device, also where it was loaded before there was one."""
    timer: Any = importlib.import_module("torch.utils.benchmark.utils.timer")

    def waiting() -> float:
        device_module.synchronize()
        # Looked up at each call: within `virtual_time` it is the virtual clock.
        return timeit.default_timer()

    # The class took its clock as a default argument when it was loaded; a new function under the old name would come
    # too late. The default itself is replaced.
    start = timer.Timer.__init__
    start.__defaults__ = tuple(waiting if value is time.perf_counter else value for value in start.__defaults__)


def answer_accelerator(machine: Machine) -> None:
    """Let `torch.accelerator` answer for the machine."""

    def current_accelerator(check_available: bool = False) -> torch.device:
        del check_available
        return torch.device(machine.kind)

    class device_index(streams.device):  # noqa: N801 (a class, as PyTorch's is)
        __module__ = "torch.accelerator"

    answers = {
        "current_accelerator": current_accelerator,
        "is_available": device_module.is_available,
        "device_count": device_module.device_count,
        "current_device_index": device_module.current_device,
        "current_device_idx": device_module.current_device,
        "set_device_index": device_module.set_device,
        "set_device_idx": device_module.set_device,
        "synchronize": device_module.synchronize,
        "current_stream": streams.current_stream,
        "set_stream": streams.set_stream,
        "device_index": device_index,
        "memory_allocated": device_module.memory_allocated,
        "max_memory_allocated": device_module.max_memory_allocated,
        "memory_reserved": device_module.memory_allocated,
        "max_memory_reserved": device_module.max_memory_allocated,
        "reset_peak_memory_stats": device_module.reset_peak_memory_stats,
        "reset_accumulated_memory_stats": device_module.reset_accumulated_memory_stats,
        "memory_stats": device_module.memory_stats,
        "get_memory_info": device_module.mem_get_info,
        "empty_cache": device_module.empty_cache,
    }
    put(torch._C, "_get_accelerator", current_accelerator)
    # Some of these names stand in both modules, some in one.
    for name, answer in answers.items():
        for owner in (torch.accelerator, torch.accelerator.memory):
            if hasattr(owner, name):
                put(owner, name, answer)


def answer_cuda() -> None:
    """Let `torch.cuda` answer for the machine; what it cannot answer raises `NotImplementedError`."""
    owners = (torch.cuda, torch.cuda.memory, torch.cuda.random, torch.cuda.streams)
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
    _legacy_types()
    _number_of_a_device()
    # These need no device, or are modules of their own.
    _name_the_device()
    allowed = {"amp", "profiler", "nvtx", "tunable", "check_error", "cudaStatus", "has_half", "has_magma"}
    allowed |= {"memory_summary", "set_sync_debug_mode", "get_sync_debug_mode", "set_per_process_memory_fraction"}
    allowed |= {"CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing", "make_graphed_callables"}
    allowed |= {
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
        if isinstance(value, type):
            if not issubclass(value, BaseException):
                put(torch.cuda, name, refusing_class(value, _REFUSED.format(name)))
        elif callable(value):
            put(torch.cuda, name, _refusal(name))
    for name in ("_record_memory_history", "_snapshot", "_dump_snapshot", "caching_allocator_alloc"):
        put(torch.cuda.memory, name, _refusal(f"memory.{name}"))


def _name_the_device() -> None:
    """Inside `torch.func` a tensor is wrapped by C++, which knows the device by its inner name alone."""

    def device(self: torch.Tensor) -> torch.device:
        inner: torch.device = TensorBase.device.__get__(self)
        return the_machine().public(inner)

    def is_cuda(self: torch.Tensor) -> bool:
        return self.device.type == "cuda"

    put(torch.Tensor, "device", property(device))
    put(torch.Tensor, "is_cuda", property(is_cuda))


class _DeviceKind(type):
    """`torch.device`, which C++ calls by the inner name where it is given a number alone."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], int) and not isinstance(args[0], bool):
            return _Device(the_machine().kind, args[0])
        return _Device(*args, **kwargs)

    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, _Device)


# Kept before `torch.device` is replaced.
_Device = torch.device


def _number_of_a_device() -> None:
    """`torch.device(1)` is one of this kind, too."""
    names = {"__module__": "torch", "__qualname__": "device", "__doc__": _Device.__doc__}
    put(torch, "device", _DeviceKind("device", (), names))


class _LegacyKind(type):
    """`torch.cuda.FloatTensor` and its like: makes a tensor, and says whether a tensor is such a one."""

    made_by: Any
    dtype: torch.dtype

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], (torch.TypedStorage, torch.UntypedStorage)):
            return torch.empty(0, dtype=cls.dtype, device=args[0].device).set_(args[0])
        return cls.made_by(*args, **kwargs).cuda()

    # `isinstance(t, torch.cuda.FloatTensor)` asks the class of the class; no tensor is derived from that type.
    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, SimTensor) and thing.dtype is cls.dtype


def _legacy_types() -> None:
    for dtype, word in LEGACY.items():
        name = f"{word}Tensor"
        # `torch.FloatTensor` and its like make the tensor on the CPU; `.cuda()` then moves it, which is counted.
        made_by = getattr(torch, name)
        put(torch.cuda, name, _LegacyKind(name, (), {"made_by": staticmethod(made_by), "dtype": dtype}))


def _refusal(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        del args, kwargs
        raise NotImplementedError(_REFUSED.format(name))

    return refuse


def hide_others(but: str = "") -> None:
    """Hide CUDA, XPU, MTIA and MPS, as a PyTorch that was built for the CPU does, apart from the simulated one."""

    def no() -> bool:
        return False

    def none() -> int:
        return 0

    # `_lazy_init` is what PyTorch calls before the first tensor is put on a device; there `.cuda()` has to fail.
    for name in {"cuda", "xpu", "mtia"} - {but}:
        owner = getattr(torch, name, None)
        if owner is None:
            continue
        for function, answer in (("is_available", no), ("device_count", none), ("_lazy_init", _not_compiled(name))):
            if hasattr(owner, function):
                put(owner, function, answer)
    put(torch.backends.mps, "is_available", no)
    # With one that is simulated, `torch.accelerator` must answer for that one.
    if but:
        return

    def no_accelerator(check_available: bool = False) -> None:
        del check_available

    put(torch.accelerator, "is_available", no)
    put(torch.accelerator, "device_count", none)
    put(torch.accelerator, "current_accelerator", no_accelerator)


def _not_compiled(name: str) -> Callable[[], None]:
    def refuse() -> None:
        raise AssertionError(f"Torch not compiled with {name.upper()} enabled")

    return refuse
