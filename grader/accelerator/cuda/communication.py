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


def broadcast(tensor: torch.Tensor, devices: Sequence[int]) -> list[torch.Tensor]:
    """Return copies of a tensor, one on each device."""
    return [tensor.to(_torch_device(index), non_blocking=True) for index in devices]


def broadcast_out(tensor: torch.Tensor, out: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Copy a tensor into each tensor of `out`, and return these."""
    return [to.copy_(tensor, non_blocking=True) for to in out]


def broadcast_coalesced(
    tensors: Sequence[torch.Tensor], devices: Sequence[int], buffer_size: int
) -> list[list[torch.Tensor]]:
    """Return copies of the tensors for each device; small tensors are joined and copied at once.

    Args:
        tensors: tensors of the first device.
        devices: their indices. The first one keeps the tensors themselves.
        buffer_size: the largest number of bytes that are joined to one copy.
    """
    made: list[list[torch.Tensor]] = [list(tensors), *([] for _ in devices[1:])]
    for chunk in _take_tensors(tensors, buffer_size):
        flat = _flatten_dense_tensors(chunk)
        for copies, index in zip(made[1:], devices[1:], strict=True):
            arrived = flat.to(_torch_device(index), non_blocking=True)
            copies += [part.data for part in _unflatten_dense_tensors(arrived, chunk)]
    order = {id(tensor): number for number, tensor in enumerate(_in_chunks(tensors, buffer_size))}
    return [made[0], *([copies[order[id(tensor)]] for tensor in tensors] for copies in made[1:])]


def scatter(tensor: torch.Tensor, devices: Sequence[int], sizes: Any, dim: int, streams: Any) -> list[torch.Tensor]:
    """Divide a tensor along `dim`, and return copies of its parts, one on each device.

    Args:
        tensor: a tensor of any device.
        devices: their indices.
        sizes: the sizes of the parts along `dim`; without them all parts are equal.
        dim: the dim along which the tensor is divided.
        streams: a stream for each copy, or None.
    """
    parts = tensor.split(list(sizes), dim) if sizes else tensor.chunk(len(devices), dim)
    made = []
    for number, (part, index) in enumerate(zip(parts, devices, strict=False)):
        with stream(streams[number] if streams else None):
            made.append(part.contiguous().to(_torch_device(index), non_blocking=True))
    return made


def scatter_out(
    tensor: torch.Tensor, out: Sequence[torch.Tensor], dim: int, streams: Any = None
) -> Sequence[torch.Tensor]:
    """Divide a tensor along `dim`, copy the parts into the tensors of `out`, and return these.

    Args:
        tensor: a tensor of any device.
        out: the tensors that are written to; their sizes along `dim` are those of the parts.
        dim: the dim along which the tensor is divided.
        streams: not used.
    """
    del streams
    for to, part in zip(out, tensor.split([one.size(dim) for one in out], dim), strict=True):
        to.copy_(part, non_blocking=True)
    return out


def gather(tensors: Sequence[torch.Tensor], dim: int, destination: int | None) -> torch.Tensor:
    """Concatenate tensors of several devices along `dim`, and return the result on one device.

    Args:
        tensors: tensors of equal sizes except along `dim`.
        dim: the dim along which they are joined.
        destination: an index; None is the current device, -1 the CPU.
    """
    sizes = list(tensors[0].shape)
    sizes[dim] = sum(tensor.size(dim) for tensor in tensors)
    index = the_machine().current if destination is None else destination
    return gather_out(tensors, torch.empty(sizes, dtype=tensors[0].dtype, device=_torch_device(index)), dim)


def gather_out(tensors: Sequence[torch.Tensor], out: torch.Tensor, dim: int) -> torch.Tensor:
    """Concatenate tensors of several devices along `dim` into the tensor `out`, and return it.

    Args:
        tensors: tensors of equal sizes except along `dim`.
        out: the tensor that is written to.
        dim: the dim along which they are joined.
    """
    for to, part in zip(out.split([one.size(dim) for one in tensors], dim), tensors, strict=True):
        to.copy_(part, non_blocking=True)
    return out


def _in_chunks(tensors: Sequence[torch.Tensor], buffer_size: int) -> list[torch.Tensor]:
    # Chunks are of one dtype each, so that their order is another one.
    return [tensor for chunk in _take_tensors(tensors, buffer_size) for tensor in chunk]
