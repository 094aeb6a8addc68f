"""What an operator costs: the memory that its outcome takes, its arithmetic, the bytes that it moves."""

from __future__ import annotations

import math

import torch

from grader.accelerator.core.sparse import count_of, nbytes_of
from grader.accelerator.dispatch.record import Dispatch
from grader.accelerator.schema.facts import NO_KERNEL, written_by
from grader.accelerator.sim.machine import Device

_MANY = 1 << 24
"""As many elements are looked at before they are made."""

_TAKE_ROWS = {"embedding", "index_select", "index", "gather"}
"""Operators that read no more of the first tensor than they give."""

_ONLY_WRITE = {"fill_", "zero_", "copy_", "_foreach_zero_", "_foreach_copy_"}
"""Operators in place that read nothing of what was there."""


def find_room(call: Dispatch, target: Device) -> None:
    """Raise `torch.OutOfMemoryError` if the device has no room for the outcome."""
    # The device's memory is checked before the CPU's kernel runs: the host must not allocate terabytes first, only to
    # learn that the device has no room.
    facts = call.facts
    if facts.name in NO_KERNEL and facts.names[0] == "size":
        dtype = call.named.get("dtype") or torch.get_default_dtype()
        target.memory.room_for(math.prod(call.inner[0]) * dtype.itemsize)
    if not facts.writes and call.shells:
        expected = _expected(call)
        if expected > target.memory.room:
            target.memory.room_for(expected)


def _expected(call: Dispatch) -> int:
    """Return the bytes of the outcome, where they may be far more than those of the arguments; else 0.

    An outcome that the device has no room for must not be made in the host's memory first.
    """
    name, shells = call.facts.name, call.shells
    first = shells[0]._inner
    if name in ("mm", "bmm") and len(shells) == 2:
        return first.numel() // max(first.shape[-1], 1) * shells[1].shape[-1] * first.element_size()
    if name == "clone":
        return first.numel() * first.element_size()
    if not call.facts.pointwise or len(shells) < 2 or name.startswith("_foreach_"):
        return 0
    if math.prod([shell._inner.numel() for shell in shells]) <= _MANY:
        return 0
    try:
        shape = torch.broadcast_shapes(*[shell.shape for shell in shells])
    except RuntimeError:
        return 0  # the operator will say so in its own words
    return int(math.prod(shape)) * max(shell.element_size() for shell in shells)


def amount_of(call: Dispatch, out: object) -> tuple[float, float]:
    """Return the floating-point operations, as many of float32 as take that time, and the bytes through the memory."""
    facts, shells, fresh = call.facts, call.shells, call.fresh
    # What is given twice, as in `x * x`, is read once.
    tensors = [shell._inner for shell in shells]
    if len(tensors) > 1:
        tensors = list({id(tensor): tensor for tensor in tensors}.values())
    tensors += fresh
    most, nbytes, kind = 0, 0, None
    for tensor in tensors:
        if tensor.layout is torch.strided:
            count = tensor.numel()
            # An expanded tensor has more elements than memory, and the memory is what is read.
            size = min(count * tensor.element_size(), tensor.untyped_storage().nbytes())
        else:
            count, size = count_of(tensor), nbytes_of(tensor)
        dtype = tensor.dtype
        if kind is None:
            kind = dtype if dtype.is_floating_point or dtype.is_complex else None
        most = max(most, count)
        nbytes += size
    if fresh and facts.name in _TAKE_ROWS:
        nbytes += min(_bytes_of(tensors[0]), _bytes_of(fresh[0])) - _bytes_of(tensors[0])
    if facts.writes and facts.name[-1] == "_" and facts.name not in _ONLY_WRITE and facts.generator < 0:
        # What is changed in place is read, and then written.
        nbytes += sum(nbytes_of(one) for one in written_by(facts, call.inner, call.named))
    times = call.machine.spec.times(kind or torch.float32, facts.name if facts.flops is not None else "")
    return _operations(call, out, most) / times, nbytes


def _bytes_of(tensor: torch.Tensor) -> int:
    if tensor.layout is not torch.strided:
        return nbytes_of(tensor)
    return min(tensor.numel() * tensor.element_size(), tensor.untyped_storage().nbytes())


def _operations(call: Dispatch, out: object, most: int) -> float:
    if call.facts.flops is not None:
        try:
            return call.facts.flops(*call.inner, **call.named, out_val=out)
        except (AssertionError, TypeError, ValueError, IndexError, RuntimeError):
            return most  # a formula that does not know these arguments
    # PyTorch has no formula for these; n³ is the right order for factorisations and solvers of n x n matrices.
    shells = call.shells
    if call.facts.name.startswith("linalg_") and shells and shells[0].dim() >= 2:
        return shells[0].numel() * min(shells[0].shape[-2:])
    return most
