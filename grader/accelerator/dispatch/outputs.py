"""Shells for what comes out of an operator, and after it for what it wrote to."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.sparse import parts_of
from grader.accelerator.core.tensor import SimTensor, hold_parts, refresh, wrap
from grader.accelerator.core.unsupported import refuse_odd
from grader.accelerator.dispatch.record import Dispatch
from grader.accelerator.sim.machine import Machine
from grader.accelerator.sim.races import Block


def shells_of(call: Dispatch, out: Any) -> Any:
    """Return an argument's own shell if that argument came out, a new one for any other tensor; note new memory."""
    if isinstance(out, (list, tuple)):
        return type(out)(shells_of(call, item) for item in out)
    if not isinstance(out, torch.Tensor):
        return out
    shells, target = call.shells, call.target
    for shell in shells:
        # In-place operators and `out=` give back the very tensor that they were given.
        if shell._inner is out:
            return shell
    if target is None:
        return out
    refuse_odd(call.func, out)
    # Memory that is known belongs to an argument: this is a view, or an argument's alias, and takes nothing new.
    block = _known_block(call.machine, out)
    if block is None:
        call.fresh.append(out)
    elif torch.is_inference_mode_enabled() and not shells[0].is_inference():
        with torch.inference_mode(False):  # a view of an ordinary tensor is one
            return wrap(out, target, block)
    return wrap(out, target, block)


def _known_block(machine: Machine, out: torch.Tensor) -> Block | None:
    existing = None
    for part in parts_of(out):
        known = machine.blocks.get(part.untyped_storage()._cdata)
        existing = known() if known is not None else None
        if existing is None:
            return None
    return existing


def follow(shell: SimTensor) -> None:
    """Let a shell say what its tensor is by now."""
    if shell._inner.layout is not torch.strided:
        hold_parts(shell)
        return
    # What was written to may have other sizes by now, as after `out=` or `t_`; the shell must say so, too.
    inner = shell._inner
    if (
        inner.shape != shell.shape
        or inner.stride() != shell.stride()
        or inner.storage_offset() != shell.storage_offset()
        or inner.dtype != shell.dtype
        or inner.is_conj() != shell.is_conj()
        or inner.is_neg() != shell.is_neg()
    ):
        refresh(shell)
        shell._block.resized()


def blocks_of(given: Any) -> list[Block]:
    """Return the memory blocks of what came out."""
    if isinstance(given, SimTensor):
        return [given._block]
    return [block for item in given for block in blocks_of(item)] if isinstance(given, (list, tuple)) else []
