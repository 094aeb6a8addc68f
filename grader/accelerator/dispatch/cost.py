"""How much an operator is: the memory that its outcome takes, its arithmetic, the bytes that it moves."""

from __future__ import annotations

import math
from typing import Any

import torch

from grader.accelerator.core.sparse import count_of, nbytes_of
from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.schema.facts import NO_KERNEL, Facts, written_by
from grader.accelerator.sim.machine import Device
from grader.accelerator.sim.spec import Spec

_MANY = 1 << 24
"""As many elements are looked at before they are made."""

_TAKE_ROWS = {"embedding", "index_select", "index", "gather"}
"""Operators that read no more of the first tensor than they give."""

_ONLY_WRITE = {"fill_", "zero_", "copy_", "_foreach_zero_", "_foreach_copy_"}
"""Operators in place that read nothing of what was there."""


def find_room(facts: Facts, inner: list[Any], named: dict[str, Any], shells: list[SimTensor], target: Device) -> None:
    """Raise `torch.OutOfMemoryError` if the device has no room for the outcome."""
    # The device's memory is checked before the CPU's kernel runs: the host must not allocate terabytes first, only to
    # learn that the device has no room.
    if facts.name in NO_KERNEL and facts.names[0] == "size":
        target.memory.room_for(math.prod(inner[0]) * (named.get("dtype") or torch.get_default_dtype()).itemsize)
    if not facts.writes:
        expected = _expected(facts, shells)
        if expected > target.memory.room:
            target.memory.room_for(expected)


def _expected(facts: Facts, shells: list[SimTensor]) -> int:
    """The bytes of the outcome, where they may be far more than those of the arguments; else 0.

    An outcome that the device has no room for must not be made in the host's memory first.
    """
    first: torch.Tensor | None = shells[0]._inner if shells else None
    if first is None:
        return 0
    if facts.name in ("mm", "bmm") and len(shells) == 2:
        return first.numel() // max(first.shape[-1], 1) * shells[1].shape[-1] * first.element_size()
    if facts.name == "clone":
        return first.numel() * first.element_size()
    lists = facts.name.startswith("_foreach_")
    if facts.pointwise and not lists and len(shells) > 1 and math.prod(shell.numel() for shell in shells) > _MANY:
        try:
            shape = torch.broadcast_shapes(*[shell.shape for shell in shells])
        except RuntimeError:
            return 0  # the operator will say so in its own words
        return int(math.prod(shape)) * max(shell.element_size() for shell in shells)
    return 0


def amount_of(
    spec: Spec, facts: Facts, inner: Any, named: Any, out: Any, fresh: list[torch.Tensor], shells: list[SimTensor]
) -> tuple[float, float]:
    """The floating-point operations, as many of float32 as take the same time, and the bytes through the memory."""
    # What is given twice, as in `x * x`, is read once.
    tensors = [*{id(shell): shell._inner for shell in shells}.values(), *fresh]
    most = max(map(count_of, tensors), default=0)
    sizes = [_bytes_of(tensor) for tensor in tensors]
    if facts.name in _TAKE_ROWS and fresh:
        sizes[0] = min(sizes[0], _bytes_of(fresh[0]))
    nbytes = sum(sizes)
    if facts.name.endswith("_") and facts.name not in _ONLY_WRITE and facts.generator < 0:
        # What is changed in place is read, and then written.
        nbytes += sum(nbytes_of(one) for one in written_by(facts, inner, named))
    dtype = next((t.dtype for t in (*shells, *fresh) if t.is_floating_point() or t.is_complex()), torch.float32)
    times = spec.times(dtype, facts.name if facts.flops is not None else "")
    return _operations(facts, inner, named, out, shells, most) / times, nbytes


def _bytes_of(tensor: torch.Tensor) -> int:
    if tensor.layout is not torch.strided:
        return nbytes_of(tensor)
    # An expanded tensor has more elements than memory, and the memory is what is read.
    return min(tensor.numel() * tensor.element_size(), tensor.untyped_storage().nbytes())


def _operations(facts: Facts, inner: Any, named: Any, out: Any, shells: list[SimTensor], most: int) -> float:
    if facts.flops is not None:
        try:
            return facts.flops(*inner, **named, out_val=out)
        except (AssertionError, TypeError, ValueError, IndexError, RuntimeError):
            return most  # a formula that does not know these arguments
    # PyTorch has no formula for these; n³ is the right order for factorisations and solvers of n x n matrices.
    if facts.name.startswith("linalg_") and shells and shells[0].dim() >= 2:
        return shells[0].numel() * min(shells[0].shape[-2:])
    return most
