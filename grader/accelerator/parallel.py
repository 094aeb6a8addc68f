"""Several devices in one process: `torch.cuda.comm`, and with it `nn.DataParallel`, one device after another."""

from __future__ import annotations

import importlib
import threading
import types
from collections.abc import Sequence
from typing import Any

import torch
from torch._utils import _flatten_dense_tensors, _take_tensors, _unflatten_dense_tensors

from grader.accelerator.machine import the_machine
from grader.accelerator.replacing import put
from grader.accelerator.streams import stream


def answer_communication() -> None:
    """Let what PyTorch has in C++ for CUDA alone be done with copies of ours."""
    for function in (_broadcast, _broadcast_out, _broadcast_coalesced, _scatter, _scatter_out, _gather, _gather_out):
        put(torch._C, function.__name__, function)
    # Sums over devices ask for it, and would warn that it was not compiled in.
    put(torch.cuda.nccl, "is_available", _no_nccl)
    _one_after_another()


def _no_nccl(tensors: Any) -> bool:
    del tensors
    return False


def _place(index: int) -> torch.device:
    return torch.device("cpu") if index == -1 else the_machine().device(index).public


def _broadcast(tensor: torch.Tensor, devices: Sequence[int]) -> list[torch.Tensor]:
    return [tensor.to(_place(index), non_blocking=True) for index in devices]


def _broadcast_out(tensor: torch.Tensor, out: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [to.copy_(tensor, non_blocking=True) for to in out]


def _broadcast_coalesced(
    tensors: Sequence[torch.Tensor], devices: Sequence[int], buffer_size: int
) -> list[list[torch.Tensor]]:
    """Small tensors travel together."""
    made: list[list[torch.Tensor]] = [list(tensors), *([] for _ in devices[1:])]
    for chunk in _take_tensors(tensors, buffer_size):
        flat = _flatten_dense_tensors(chunk)
        for copies, index in zip(made[1:], devices[1:], strict=True):
            arrived = flat.to(_place(index), non_blocking=True)
            copies += [part.data for part in _unflatten_dense_tensors(arrived, chunk)]
    order = {id(tensor): number for number, tensor in enumerate(_in_chunks(tensors, buffer_size))}
    return [made[0], *([copies[order[id(tensor)]] for tensor in tensors] for copies in made[1:])]


def _scatter(tensor: torch.Tensor, devices: Sequence[int], sizes: Any, dim: int, streams: Any) -> list[torch.Tensor]:
    parts = tensor.split(list(sizes), dim) if sizes else tensor.chunk(len(devices), dim)
    made = []
    for number, (part, index) in enumerate(zip(parts, devices, strict=False)):
        with stream(streams[number] if streams else None):
            made.append(part.contiguous().to(_place(index), non_blocking=True))
    return made


def _scatter_out(
    tensor: torch.Tensor, out: Sequence[torch.Tensor], dim: int, streams: Any = None
) -> Sequence[torch.Tensor]:
    del streams
    for to, part in zip(out, tensor.split([one.size(dim) for one in out], dim), strict=True):
        to.copy_(part, non_blocking=True)
    return out


def _gather(tensors: Sequence[torch.Tensor], dim: int, destination: int | None) -> torch.Tensor:
    sizes = list(tensors[0].shape)
    sizes[dim] = sum(tensor.size(dim) for tensor in tensors)
    index = the_machine().current if destination is None else destination
    return _gather_out(tensors, torch.empty(sizes, dtype=tensors[0].dtype, device=_place(index)), dim)


def _gather_out(tensors: Sequence[torch.Tensor], out: torch.Tensor, dim: int) -> torch.Tensor:
    for to, part in zip(out.split([one.size(dim) for one in tensors], dim), tensors, strict=True):
        to.copy_(part, non_blocking=True)
    return out


def _in_chunks(tensors: Sequence[torch.Tensor], buffer_size: int) -> list[torch.Tensor]:
    # Chunks are of one dtype each, so that their order is another one.
    return [tensor for chunk in _take_tensors(tensors, buffer_size) for tensor in chunk]


class _Turn(threading.Thread):
    def start(self) -> None:
        """Run to the end: which device and which stream are current holds for the process."""
        super().start()
        self.join()


def _one_after_another() -> None:
    module = importlib.import_module("torch.nn.parallel.parallel_apply")
    put(module, "threading", types.SimpleNamespace(Thread=_Turn, Lock=threading.Lock))
