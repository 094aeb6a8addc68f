"""Tensors of objects that have a `__cuda_array_interface__`, as those of CuPy and Numba have it."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.storage import cpu_view_of
from grader.accelerator.core.tensor import SimTensor, wrap
from grader.accelerator.sim.machine import Machine

_DTYPES = {
    "|b1": torch.bool,
    "|u1": torch.uint8,
    "|i1": torch.int8,
    "<f2": torch.float16,
    "<f4": torch.float32,
    "<f8": torch.float64,
    "<i2": torch.int16,
    "<i4": torch.int32,
    "<i8": torch.int64,
    "<u2": torch.uint16,
    "<u4": torch.uint32,
    "<u8": torch.uint64,
    "<c8": torch.complex64,
    "<c16": torch.complex128,
}

_HOST = "The specified pointer resides on host memory and is not registered with any CUDA device."


def has_array_interface(data: Any) -> bool:
    """Return whether an object that is not a tensor has a `__cuda_array_interface__`."""
    return not isinstance(data, torch.Tensor) and hasattr(data, "__cuda_array_interface__")


def tensor_from_array_interface(machine: Machine, data: Any) -> SimTensor:
    """Return a tensor over the memory that `data.__cuda_array_interface__` names.

    `{"typestr": "<f4", "shape": (3,), "data": (address, False)}` becomes a tensor of three numbers in float32.

    Raises:
        RuntimeError: the memory is not that of a simulated device.
    """
    found = data.__cuda_array_interface__
    dtype, shape, strides = _DTYPES[found["typestr"]], tuple(found["shape"]), found.get("strides")
    address = found["data"][0]
    for block in machine.living_blocks():
        if not block.address <= address < block.address + block.requested:
            continue
        offset = (address - block.address) // dtype.itemsize
        steps = _contiguous(shape) if strides is None else tuple(step // dtype.itemsize for step in strides)
        inner = cpu_view_of(dtype, block.storage, offset, shape, steps)
        return wrap(inner, machine.devices[block.memory.index], block)
    raise RuntimeError(_HOST)


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= max(size, 1)
    return tuple(reversed(steps))
