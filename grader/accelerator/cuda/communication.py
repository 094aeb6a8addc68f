"""Copies between several devices of one process, for `torch.cuda.comm` and `nn.DataParallel`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._utils import _flatten_dense_tensors, _take_tensors, _unflatten_dense_tensors

from grader.accelerator.cuda.streams import stream
from grader.accelerator.sim.machine import the_machine


def _torch_device(index: int) -> torch.device:
    return torch.device("cpu") if index == -1 else the_machine().device(index).public


def _check(condition: bool, text: str) -> None:
    if not condition:
        raise RuntimeError(text)


def broadcast(tensor: torch.Tensor, devices: Sequence[int]) -> list[torch.Tensor]:
    """Return copies of a tensor, one on each device."""
    for index in devices:
        _check(index >= 0, f"Expected non-negative device index, but got {index}")
    return [tensor.to(_torch_device(index), non_blocking=True) for index in devices]


def broadcast_out(tensor: torch.Tensor, out: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Copy a tensor into each tensor of `out`, and return these."""
    for number, to in enumerate(out):
        _check_is_cuda(to, number, "output")
        _check(
            to.shape == tensor.shape,
            f"Expected all output tensors to have same shape as the source tensor {list(tensor.shape)}, but output "
            f"tensor at index {number} has shape {list(to.shape)}",
        )
    return [to.copy_(tensor, non_blocking=True) for to in out]


def _check_is_cuda(tensor: torch.Tensor, number: int, kind: str) -> None:
    """Raise `RuntimeError` unless a tensor is on a simulated device.

    Args:
        tensor: the tensor.
        number: the index of the tensor among all input or output tensors of the call, for the error.
        kind: "input" or "output", for the error.
    """
    which = "output tensor" if kind == "output" else "tensor"
    _check(
        the_machine().is_simulated(tensor.device),
        f"Expected all {kind} tensors to be CUDA tensors, but {which} at index {number} has device '{tensor.device}'",
    )


def broadcast_coalesced(
    tensors: Sequence[torch.Tensor], devices: Sequence[int], buffer_size: int
) -> list[list[torch.Tensor]]:
    """Copy all tensors to each device, and return a list of the copies for each device.

    For the tensors `a` and `b` on device 0, and the devices 0 and 1, these are `[[a, b], [copy of a, copy of b]]`.
    Dense tensors are joined and copied together.

    Args:
        tensors: the tensors, all on the first device.
        devices: the indices of the devices, that of the tensors first.
        buffer_size: the largest number of bytes of a joined copy; a larger tensor is copied alone.
    """
    for tensor in tensors:
        _check(tensor.get_device() == devices[0], f"All tensors must be on devices[0]: {devices[0]}")
    made: list[list[torch.Tensor]] = [list(tensors), *([] for _ in devices[1:])]
    for chunk in _take_tensors(tensors, buffer_size):
        flat = None if chunk[0].is_sparse else _flatten_dense_tensors(chunk)
        for copies, index in zip(made[1:], devices[1:], strict=True):
            device = _torch_device(index)
            if flat is None:
                copies += [part.to(device, non_blocking=True) for part in chunk]
            else:
                arrived = flat.to(device, non_blocking=True)
                copies += [part.data for part in _unflatten_dense_tensors(arrived, chunk)]
    order = {id(tensor): number for number, tensor in enumerate(_in_chunks(tensors, buffer_size))}
    return [made[0], *([copies[order[id(tensor)]] for tensor in tensors] for copies in made[1:])]


def scatter(tensor: torch.Tensor, devices: Sequence[int], sizes: Any, dim: int, streams: Any) -> list[torch.Tensor]:
    """Divide a tensor along `dim`, and return copies of its parts, one on each device.

    Args:
        tensor: a tensor of any device.
        devices: the index of the device of each part.
        sizes: the sizes of the parts along `dim`; None divides the tensor as `Tensor.chunk` does.
        dim: the dim along which the tensor is divided.
        streams: the stream on which each part is copied; None means the current one.
    """
    _check(len(devices) > 0, "Expected at least one device to scatter to")
    if sizes is not None:
        _check(
            len(sizes) == len(devices),
            f"Expected devices and chunk_sizes to be of same length, but got len(devices) = {len(devices)} and "
            f"len(chunk_sizes) = {len(sizes)}",
        )
    parts = tensor.chunk(len(devices), dim) if sizes is None else tensor.split(list(sizes), dim)
    made = []
    for number, (part, index) in enumerate(zip(parts, devices, strict=False)):
        given = streams[number] if streams else None
        _check(
            given is None or given.device_index == index,
            f"Expected the device associated with the stream at index {number} (was "
            f"{given and given.device_index}) to match the device supplied at that index (expected {index})",
        )
        _check(index >= 0, f"Expected non-negative device index, but got {index}")
        with stream(given):
            made.append(part.to(_torch_device(index), non_blocking=True))
    return made


def scatter_out(
    tensor: torch.Tensor, out: Sequence[torch.Tensor], dim: int, streams: Any = None
) -> Sequence[torch.Tensor]:
    """Divide a tensor along `dim`, copy its parts into the tensors of `out`, and return `out`.

    Args:
        tensor: a tensor of any device.
        out: the tensors that are written to; their sizes along `dim` are those of the parts.
        dim: the dim along which the tensor is divided.
        streams: not used.
    """
    del streams
    _check(len(out) > 0, "Expected at least one output tensor to scatter to")
    dim = dim % tensor.dim()
    for number, to in enumerate(out):
        _check_is_cuda(to, number, "output")
        shape = list(to.shape)
        shape[dim : dim + 1] = [tensor.size(dim)]
        _check(
            to.dim() == tensor.dim() and shape == list(tensor.shape),
            f"Output tensor at index {number} has incorrect shape: {list(to.shape)}. Expected same shape except for "
            f"scatter dim {dim} as the source tensor: {list(tensor.shape)}",
        )
    total = sum(to.size(dim) for to in out)
    _check(
        total == tensor.size(dim),
        f"Total size for output tensors along scatter dim {dim} does not match the source tensor size at dim {dim}. "
        f"Expected {tensor.size(dim)}, but got total size {total}",
    )
    for to, part in zip(out, tensor.split([one.size(dim) for one in out], dim), strict=True):
        to.copy_(part, non_blocking=True)
    return out


def gather(tensors: Sequence[torch.Tensor], dim: int, destination: int | None) -> torch.Tensor:
    """Concatenate tensors of several devices along `dim`, and return the result on one device.

    Args:
        tensors: tensors of equal sizes except along `dim`.
        dim: the dim along which they are joined.
        destination: the index of the device of the result; None means the current device, -1 the CPU.
    """
    sizes = _joined_sizes(tensors, dim)
    index = the_machine().current if destination is None else destination
    # As on CUDA, channels stay last if they are so in each tensor.
    last = all(tensor.dim() == 4 and _has_channels_last(tensor) for tensor in tensors)
    layout = torch.channels_last if last else torch.contiguous_format
    out = torch.empty(sizes, dtype=tensors[0].dtype, device=_torch_device(index), memory_format=layout)
    return gather_out(tensors, out, dim)


def _has_channels_last(tensor: torch.Tensor) -> bool:
    return not tensor.is_contiguous() and tensor.is_contiguous(memory_format=torch.channels_last)


def _joined_sizes(tensors: Sequence[torch.Tensor], dim: int) -> list[int]:
    """Return the sizes of the tensor that joins other tensors along `dim`.

    For the shapes (2, 3) and (4, 3) along dim 0, they are `[6, 3]`. Raise `RuntimeError` unless the tensors are on
    simulated devices, and have equal sizes except along `dim`.
    """
    _check(len(tensors) > 0, "Expected at least one tensor to gather from")
    sizes = list(tensors[0].shape)
    for number, tensor in enumerate(tensors):
        _check_is_cuda(tensor, number, "input")
        _check(
            tensor.dim() == len(sizes),
            f"Expected all input tensors to have the same number of dimensions, but tensor at index {number}has "
            f"{tensor.dim()} dimensions, (expected {len(sizes)})",
        )
        sizes[dim] = tensor.size(dim)
        _check(
            list(tensor.shape) == sizes,
            f"Input tensor at index {number} has invalid shape {list(tensor.shape)}, but expected {sizes}",
        )
    sizes[dim] = sum(tensor.size(dim) for tensor in tensors)
    return sizes


def gather_out(tensors: Sequence[torch.Tensor], out: torch.Tensor, dim: int) -> torch.Tensor:
    """Concatenate tensors of several devices along `dim` into `out`, and return `out`.

    Args:
        tensors: tensors of equal sizes except along `dim`.
        out: the tensor that is written to.
        dim: the dim along which they are joined.
    """
    sizes = _joined_sizes(tensors, dim)
    _check(list(out.shape) == sizes, f"Expected out tensor to have shape {sizes}, but got {list(out.shape)}")
    for to, part in zip(out.split([one.size(dim) for one in tensors], dim), tensors, strict=True):
        to.copy_(part, non_blocking=True)
    return out


def _in_chunks(tensors: Sequence[torch.Tensor], buffer_size: int) -> list[torch.Tensor]:
    # Chunks are of one dtype each, so that their order is another one.
    return [tensor for chunk in _take_tensors(tensors, buffer_size) for tensor in chunk]
