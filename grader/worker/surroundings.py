"""What surrounds student code: the seeds of its generators, what uninitialized memory holds, which accelerator it sees.

An accelerator is shown, simulated, or hidden before the submission is loaded. On the wire, tensors on CUDA are CPU
memory that mirrors it; tensors that share memory there share it on the wire. A mirror is made when a tensor is
first sent or received, and lives as long as a request.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from grader import accelerator
from grader.sandbox import slow_imports
from grader.wire.facts import AcceleratorFunctions

_PERTURB = -6
"""`M_PERTURB` of glibc's malloc.h: memory is filled when it is given, with the complement of this byte."""

_FILL = 0x80
"""Gives bytes of 0x7F: 3.4e38 in float32 and bfloat16, 1.4e306 in float64, NaN in float16, 2139062143 in int32."""

_set_malloc = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
"""None where the C library is not glibc: there, uninitialized memory holds anything."""


def seed(number: int, *, devices: bool) -> None:
    """Seed all generators that student code draws from.

    The generators of accelerators are seeded only if `devices` is true.
    """
    random.seed(number)
    np.random.seed(number % 2**32)
    if devices:
        torch.manual_seed(number)
    else:
        # The function above writes the lines of the stack down for a CUDA that may come: milliseconds in a new process.
        torch.default_generator.manual_seed(number)


def fill_memory(on: bool) -> None:
    """Switch on or off the filling of new memory with fixed bytes when it is allocated.

    The bytes are the same each time, so that no result of student code depends on luck. They are large numbers rather
    than zeros, so that an answer that forgets to set its memory is wrong. Filling takes about as long as writing zeros.
    Memory from malloc's cache of a thread is not filled: workers have no such cache (`sandbox.process`). Small blocks
    that NumPy reuses itself are not filled either.
    """
    if _set_malloc is not None:
        _set_malloc(_PERTURB, _FILL if on else 0)


def avoid_compiler() -> None:
    """Keep PyTorch from importing its compiler in this process.

    `torch.compile` is replaced, too.
    """
    slow_imports.skip_slow_imports()
    disable_torch_compile()


def disable_torch_compile() -> None:
    """Replace `torch.compile` by a function that compiles nothing.

    The compiler starts programs, which is not allowed. PyTorch does the same with `TORCHDYNAMO_DISABLE=1`, but loads
    the compiler first, which takes seconds. A module is wrapped, so that the names in its `state_dict` begin with
    `_orig_mod.`, as everywhere.
    """
    os.environ["TORCHDYNAMO_DISABLE"] = "1"

    @functools.wraps(torch.compile)
    def as_it_is(model: Any = None, **options: Any) -> Any:
        if model is None:
            return lambda function: torch.compile(function, **options)  # which a simulated device may have replaced
        if isinstance(model, torch.nn.Module):
            return importlib.import_module("torch._dynamo.eval_frame").DisableContext()(model)
        return model

    torch.compile = as_it_is


def set_device_mode(mode: str) -> AcceleratorFunctions | None:
    """Set which accelerator PyTorch finds, for the life of this process.

    It is a simulated one, CUDA, or none.

    Args:
        mode: "sim" for a simulated accelerator of two devices, "sim-cuda" for one that calls itself cuda, "cuda" for
            CUDA as it is here, "none" for a machine without one.

    Returns:
        The functions that read and make tensors of the accelerator; None without one.

    Raises:
        ValueError: the mode is unknown.
    """
    if mode in ("sim", "sim-cuda"):
        accelerator.enable("cuda" if mode == "sim-cuda" else "sim")
        return AcceleratorFunctions(_inner_and_device, _move_to_device)
    if mode == "cuda":
        mirrors = Mirrors(is_plain_on_cuda)
        return AcceleratorFunctions(mirrors.to_host, mirrors.to_device, mirrors.clear)
    if mode != "none":
        raise ValueError(f"unknown device mode {mode!r}")
    # Where PyTorch finds none anyway, there is nothing to hide.
    if torch.accelerator.is_available():
        accelerator.enable("none")
    return None


def _inner_and_device(tensor: torch.Tensor) -> tuple[torch.Tensor, str] | None:
    if not accelerator.is_simulated(tensor):
        return None
    described = accelerator.describe(tensor)
    return described.inner, described.device


def _move_to_device(tensor: torch.Tensor, device: str) -> torch.Tensor:
    if device == "cpu":
        return tensor
    return accelerator.to_device(tensor, int(device.partition(":")[2] or 0))


class Mirrors:
    """The CPU memory that stands for the memory of tensors on an accelerator, during one request.

    Args:
        ours: a function that returns whether a tensor can be mirrored.
    """

    def __init__(self, ours: Callable[[torch.Tensor], bool]) -> None:
        self._ours = ours
        self._pairs: list[tuple[torch.UntypedStorage, torch.UntypedStorage]] = []

    def clear(self) -> None:
        """Forget all mirrors; call this when a request begins."""
        self._pairs.clear()

    def to_host(self, tensor: torch.Tensor) -> tuple[torch.Tensor, str] | None:
        """Copy a CUDA tensor's memory to its mirror on the CPU.

        Tensors that share memory on the device share a mirror.

        Returns:
            A CPU tensor on the mirror, and the name of the device; None for a tensor that cannot be mirrored.
        """
        if not self._ours(tensor):
            return None
        # In the modes of plain PyTorch, which student code may have changed: a tensor that is made in inference mode
        # could not be written to later.
        with torch.no_grad(), torch.inference_mode(False):
            there = tensor.untyped_storage()
            host = next((host for host, other in self._pairs if _is_same(other, there)), None)
            if host is None:
                host = torch.UntypedStorage(there.nbytes(), device="cpu")
                self._pairs.append((host, there))
            _bytes(host).copy_(_bytes(there))
            return _view(tensor, host), str(tensor.device)

    def to_device(self, tensor: torch.Tensor, device: str) -> torch.Tensor:
        """Return the tensor on the device that a CPU tensor stands for.

        This tensor is a view of the CUDA memory that the CPU tensor's storage mirrors, or of a copy of that storage if
        it mirrors no memory. With "cpu" as `device`, return the CPU tensor.
        """
        if device == "cpu":
            return tensor
        with torch.no_grad(), torch.inference_mode(False):
            host = tensor.untyped_storage()
            there = next((there for other, there in self._pairs if _is_same(other, host)), None)
            if there is None:
                there = _bytes(host).to(torch.device(device)).untyped_storage()
                self._pairs.append((host, there))
            return _view(tensor, there)


def is_plain_on_cuda(tensor: torch.Tensor) -> bool:
    """Return whether a tensor is a plain tensor on CUDA.

    Plain means: not of a subclass other than `Parameter`, strided, and not nested.
    """
    plain = type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout is torch.strided
    return plain and tensor.device.type == "cuda" and not tensor.is_nested


def _is_same(one: torch.UntypedStorage, other: torch.UntypedStorage) -> bool:
    return one._cdata == other._cdata and one.nbytes() == other.nbytes()


def _bytes(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _view(like: torch.Tensor, storage: torch.UntypedStorage) -> torch.Tensor:
    """Return a tensor over another storage, with the dtype, shape, strides and offset of `like`."""
    view = torch.empty(0, dtype=like.dtype, device=storage.device)
    view = view.set_(storage, like.storage_offset(), like.shape, like.stride())
    # Conjugation and negation are bits of the tensor, not numbers in memory; they are not copied with it.
    view = torch._conj(view) if like.is_conj() else view
    return torch._neg_view(view) if like.is_neg() else view
