"""What programs for CUDA use beside tensors: ranges for profilers, kernels that sleep, versions, old default types."""

from __future__ import annotations

import importlib
import itertools
import types
from typing import Any

import torch

from grader.accelerator import device_module
from grader.accelerator.allocation import Memory
from grader.accelerator.clock import NOTHING
from grader.accelerator.machine import Machine
from grader.accelerator.replacing import put

_CUDA, _CUDNN = "12.8", 91002
"""The versions that it says it has."""


class _Ranges:
    """Ranges of NVTX, as spans on the virtual clock; they nest."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._open: list[tuple[str, float]] = []
        self._started: dict[int, tuple[str, float]] = {}
        self._numbers = itertools.count(1)

    # The names are those of the extension that `torch.cuda.nvtx` calls.
    def rangePushA(self, name: str) -> int:  # noqa: N802
        """Open a range; how many were open before."""
        self._open.append((name, self._machine.clock.host))
        return len(self._open) - 1

    def rangePop(self) -> int:  # noqa: N802
        """Close the one that was opened last; how many are left, or -2 where none was open."""
        if not self._open:
            return -2
        self._note(*self._open.pop())
        return len(self._open)

    def rangeStartA(self, name: str) -> int:  # noqa: N802
        """Open a range that need not nest; its number."""
        number = next(self._numbers)
        self._started[number] = name, self._machine.clock.host
        return number

    def rangeEnd(self, number: int) -> None:  # noqa: N802
        """Close it."""
        if number in self._started:
            self._note(*self._started.pop(number))

    def markA(self, name: str) -> None:  # noqa: N802
        """A moment, which takes no time and so leaves no span."""

    def deviceRangeStart(self, name: str, stream: int) -> int:  # noqa: N802
        """A range of the device's; here one of the host's."""
        del stream
        return self.rangeStartA(name)

    def deviceRangeEnd(self, number: int, stream: int) -> None:  # noqa: N802
        """Close it."""
        del stream
        self.rangeEnd(number)

    def _note(self, name: str, start: float) -> None:
        self._machine.clock.note(f"range {name}", "host", start, self._machine.clock.host)


class _Runtime:
    """What programs ask of CUDA's own runtime: profilers, which see nothing here, and how much memory is free."""

    cudaError = types.SimpleNamespace(success=0)  # noqa: N815

    def cudaProfilerStart(self) -> int:  # noqa: N802
        """Success, which is 0."""
        return 0

    def cudaProfilerStop(self) -> int:  # noqa: N802
        """Success."""
        return 0

    def cudaMemGetInfo(self, device: int) -> tuple[int, int]:  # noqa: N802
        """The free and the total bytes."""
        return device_module.mem_get_info(device)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(f"torch.cuda.cudart().{name} is not supported on the simulated device")


def answer_tools(machine: Machine) -> None:
    """Let all of them answer for the machine."""

    def sleep(cycles: int) -> None:
        # A kernel of one thread, which leaves the device to others.
        place = machine.devices[machine.current]
        machine.check(place.index)
        seconds = cycles / machine.spec.clock
        if capture := machine.capturing(place.index):
            capture.work("sleep", place.queue, seconds, "kernels", 0.0, NOTHING)
            return
        machine.tally.launches += 1
        machine.clock.work("sleep", [place.queue], machine.spec.launch, seconds, "kernels", 0.0)

    def get_mode() -> int:
        return machine.sync_debug

    def set_mode(mode: int) -> None:
        machine.sync_debug = mode

    put(torch.cuda, "_sleep", sleep)
    put(torch._C, "_cuda_set_sync_debug_mode", set_mode)
    put(torch._C, "_cuda_get_sync_debug_mode", get_mode)
    put(torch.cuda.nvtx, "_nvtx", _Ranges(machine))
    importlib.import_module("torch.cuda.comm")
    _divide_memory(machine)
    _sanitize(machine)
    _say_versions(machine)
    _default_type(machine)


def _divide_memory(machine: Machine) -> None:
    def memory_of(device: Any) -> Memory:
        return machine.devices[machine.index_of() if device is None else machine.given_index(device)].memory

    def fraction_of(fraction: float, device: Any = None) -> None:
        if not 0 <= fraction <= 1:
            raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
        memory_of(device).share = fraction

    def fraction(device: Any = None) -> float:
        return memory_of(device).share

    def backend() -> str:
        return "native"

    for owner in (torch.cuda, torch.cuda.memory):
        put(owner, "set_per_process_memory_fraction", fraction_of)
        put(owner, "get_per_process_memory_fraction", fraction)
        put(owner, "get_allocator_backend", backend)


def _sanitize(machine: Machine) -> None:
    """PyTorch's sanitizer, also where TORCH_CUDA_SANITIZER asks for it: races between streams raise."""
    sanitizer: Any = importlib.import_module("torch.cuda._sanitizer")

    def enable_cuda_sanitizer() -> None:
        machine.races.strict = True

    # The variable switched on PyTorch's own, which waits for calls of CUDA's driver.
    if sanitizer.cuda_sanitizer.enabled:
        sanitizer.cuda_sanitizer.disable()
        enable_cuda_sanitizer()
    put(sanitizer, "enable_cuda_sanitizer", enable_cuda_sanitizer)


def _say_versions(machine: Machine) -> None:
    def available() -> bool:
        return True

    def version() -> int:
        return _CUDNN

    def architectures() -> list[str]:
        return ["sm_{}{}".format(*machine.spec.capability)]

    put(torch.cuda, "_cudart", _Runtime())
    put(torch.cuda, "get_arch_list", architectures)
    put(torch.version, "cuda", _CUDA)
    put(torch.backends.cuda, "is_built", available)
    put(torch.backends.cudnn, "is_available", available)
    put(torch.backends.cudnn, "version", version)


def _default_type(machine: Machine) -> None:
    """`torch.set_default_tensor_type(torch.cuda.FloatTensor)`, as old programs say."""
    original: Any = torch.set_default_tensor_type
    ours_before: list[str] = []
    original_new: Any = torch.Tensor.__new__

    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        # C++ makes `torch.Tensor(...)` of the default type, and knows no type of ours.
        if not ours_before or cls is not torch.Tensor or "device" in kwargs:
            return original_new(cls, *args, **kwargs)
        sizes = args[0] if len(args) == 1 and isinstance(args[0], torch.Size) else args
        if all(isinstance(size, int) for size in sizes):
            return torch.empty(sizes or (0,))
        return original_new(cls, *args, **kwargs).to(machine.kind)

    def set_default_tensor_type(kind: Any) -> None:
        name = kind if isinstance(kind, str) else f"torch.{machine.kind}.{getattr(kind, '__name__', '')}"
        owner, _, word = name.rpartition(".")
        ours = getattr(torch.cuda, word, None) if owner == f"torch.{machine.kind}" else None
        if ours is None or not (isinstance(kind, str) or ours is kind):
            if ours_before:
                ours_before.clear()
                torch.set_default_device(None)
            original(kind)
            return
        ours_before[:] = [name]
        torch.set_default_dtype(ours.dtype)
        torch.set_default_device(machine.kind)
        put(torch.Tensor, "__new__", staticmethod(new))

    put(torch, "set_default_tensor_type", set_default_tensor_type)
