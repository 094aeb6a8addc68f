"""What an operator costs: the memory that its outcome takes, its arithmetic, the bytes that it moves."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from grader.accelerator.core.sparse import nbytes_of, stored_count
from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.dispatch.record import Dispatch
from grader.accelerator.sim.machine import Device
from grader.accelerator.sim.memory import LARGE

_MANY = 1 << 24
"""As many elements are looked at before they are made."""

_TAKE_ROWS = {"embedding", "index_select", "index", "gather"}
"""Operators that read no more of the first tensor than they give."""

_ONLY_WRITE = {"fill_", "zero_", "copy_", "_foreach_zero_", "_foreach_copy_"}
"""Operators in place that read nothing of what was there."""


_MOST_BYTES = 1 << 63


def check_room(call: Dispatch, target: Device) -> None:
    """Raise `torch.OutOfMemoryError` if the device has no room for an operator's result.

    Call this before the operator runs.
    """
    # The device's memory is checked before the CPU's kernel runs: the host must not allocate terabytes first, only to
    # learn that the device has no room.
    if call.facts.grows == "sizes":
        dtype = call.named.get("dtype") or torch.get_default_dtype()
        nbytes = math.prod(call.inner[0]) * dtype.itemsize
        if nbytes < _MOST_BYTES:  # with more, PyTorch's own error is about the number
            target.memory.check_room(nbytes)
    elif call.shells:
        expected = _expected_bytes(call)
        if expected and (expected >= LARGE or expected > target.memory.room):
            target.memory.check_room(expected)


def _expected_bytes(call: Dispatch) -> int:
    """Return the expected bytes of a result that may be far larger than the arguments.

    For `x @ y` in float32 of the shapes (1000, 1) and (1, 1000), they are 4,000,000. For a call whose result cannot be
    far larger, the number is 0.
    """
    grows, shells = call.facts.grows, call.shells
    first = shells[0]._inner
    if grows == "clone":
        return first.numel() * first.element_size()
    if len(shells) < 2:
        return 0
    if grows == "product":
        return first.numel() // max(first.shape[-1], 1) * shells[1].shape[-1] * first.element_size()
    if len(shells) == 2 and first.numel() * shells[1]._inner.numel() <= _MANY:
        return 0
    shapes = [shell._inner.shape for shell in shells]
    if shapes.count(shapes[0]) == len(shapes) or math.prod(map(math.prod, shapes)) <= _MANY:
        return 0
    return _broadcast_count(shapes) * max(shell._inner.element_size() for shell in shells)


def _broadcast_count(shapes: Sequence[torch.Size]) -> int:
    """Return the number of elements of the shape that these shapes broadcast to.

    It is 12 for (3, 1) and (4,), and 0 if the shapes do not broadcast.
    """
    count = 1
    for sizes in itertools.zip_longest(*map(reversed, shapes), fillvalue=1):
        size = next((size for size in sizes if size != 1), 1)
        if any(other not in (1, size) for other in sizes):
            return 0
        count *= size
    return count


def flops_and_bytes(call: Dispatch, out: object) -> tuple[float, float]:
    """Return the arithmetic and the memory traffic of an operator call.

    The first is the number of float32 operations that take as long as the arithmetic. The second is the number of bytes
    that the kernel reads and writes. For `x @ y` of 100 x 100 numbers in float32, the result is `(2_000_000, 120_000)`
    with `Spec()`.
    """
    facts, shells, fresh = call.facts, call.shells, call.fresh
    # What is given twice, as in `x * x`, is read once.
    if len(shells) == 2:
        shells = shells if shells[0]._inner is not shells[1]._inner else shells[:1]
    elif len(shells) > 2:
        shells = list({id(shell._inner): shell for shell in shells}.values())
    most, nbytes, kind = 0, 0, None
    for shell in (*shells, *fresh) if fresh else shells:
        inner = shell._inner
        if inner.layout is torch.strided:
            count, size = inner.numel(), inner.nbytes
            if shell._block.requested < size:
                # An expanded tensor has more elements than memory, and the memory is what is read.
                size = shell._block.requested
        else:
            count, size = stored_count(inner), nbytes_of(inner)
        if kind is None:
            dtype = inner.dtype
            kind = dtype if dtype.is_floating_point or dtype.is_complex else None
        if count > most:
            most = count
        nbytes += size
    if fresh and facts.name in _TAKE_ROWS:
        first = _bytes_of((shells or fresh)[0])
        nbytes += min(first, _bytes_of(fresh[0])) - first
    if call.written and facts.name[-1] == "_" and facts.name not in _ONLY_WRITE and facts.generator < 0:
        # What is changed in place is read, and then written.
        for one in call.written:
            nbytes += nbytes_of(one)
    if facts.flops is None and (kind is None or kind is torch.float32) and not facts.is_linalg:
        return most, nbytes
    times = call.machine.spec.rate_factor(kind or torch.float32, facts.name if facts.flops is not None else "")
    return _count_flops(call, out, most) / times, nbytes


def _bytes_of(shell: SimTensor) -> int:
    nbytes = nbytes_of(shell._inner)
    return min(nbytes, shell._block.requested) if shell._inner.layout is torch.strided else nbytes


def _count_flops(call: Dispatch, out: object, most: int) -> float:
    """Return the number of floating-point operations of a call.

    PyTorch's formula for the operator counts them. Without a formula, an operator of linear algebra takes n³ operations
    for a matrix.

    Args:
        call: the call of the operator.
        out: its result.
        most: the number of elements of its largest tensor, which is returned for all other operators.
    """
    facts = call.facts
    if facts.flops is not None:
        try:
            if facts.flops_of_shapes is None:
                return facts.flops(*call.inner, **call.named, out_val=out)
            named = tuple([(name, _shape_of(value)) for name, value in call.named.items()])
            return _flops_of_shapes(facts.flops_of_shapes, tuple(map(_shape_of, call.inner)), named, _shape_of(out))
        except (AssertionError, TypeError, ValueError, IndexError, RuntimeError):
            return most  # a formula that does not know these arguments
    # PyTorch has no formula for these; n³ is the right order for factorisations and solvers of n x n matrices.
    shells = call.shells
    if facts.is_linalg and shells and shells[0].dim() >= 2:
        return shells[0].numel() * min(shells[0].shape[-2:])
    return most


# The formulas of attention and of linear layers call others, which look for tensors in what they are given.
@functools.lru_cache(maxsize=1024)
def _flops_of_shapes(formula: Callable[..., int], shapes: Any, named: Any, out_shape: Any) -> int:
    return formula(*shapes, **dict(named), out_shape=out_shape)


def _shape_of(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.shape
    return tuple(map(_shape_of, value)) if isinstance(value, (list, tuple)) else value
