"""Wrappers for the tensors that an operator returns; and the metadata of those that it wrote to."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.sparse import parts_of
from grader.accelerator.core.tensor import SimTensor, hold_blocks_of_parts, refresh_metadata, wrap
from grader.accelerator.core.unsupported import refuse_unsupported_layout
from grader.accelerator.dispatch.record import Dispatch
from grader.accelerator.sim.machine import Machine
from grader.accelerator.sim.races import Block


def wrap_outputs(call: Dispatch, out: Any) -> Any:
    """Return the result of an operator with its CPU tensors wrapped.

    If the operator returns the inner tensor of an argument, the result has the wrapper of that argument.
    """
    if isinstance(out, torch.Tensor):
        for shell in call.shells:
            # In-place operators and `out=` give back the very tensor that they were given.
            if shell._inner is out:
                return shell
        return _wrap_new(call, out)
    if isinstance(out, (list, tuple)):
        return _wrap_many(call, out, {id(shell._inner): shell for shell in call.shells})
    return out


def _wrap_many(call: Dispatch, out: Any, own: dict[int, SimTensor]) -> Any:
    if isinstance(out, (list, tuple)):
        return type(out)(_wrap_many(call, item, own) for item in out)
    if not isinstance(out, torch.Tensor):
        return out
    shell = own.get(id(out))
    return _wrap_new(call, out) if shell is None else shell


def _wrap_new(call: Dispatch, out: torch.Tensor) -> Any:
    """Wrap a tensor that an operator returned in a new wrapper.

    If it shares memory with an operand, it gets the operand's block. A result for another device is returned unchanged.
    """
    machine, target = call.machine, call.target
    if target is None:
        return out
    layout = out.layout
    if layout is not torch.strided or out.is_nested or out.is_quantized:
        refuse_unsupported_layout(call.func, out)
    storage: torch.UntypedStorage | None = None
    block: Block | None
    if call.facts.is_view and layout is call.shells[0]._inner.layout is torch.strided:
        block = call.shells[0]._block
    elif layout is torch.strided:
        storage = out.untyped_storage()
        known = machine.blocks.get(storage._cdata)  # as `known_block` finds it
        block = None if known is None else known()
    else:
        block = _block_of_sparse(machine, out)
    # Memory that is known belongs to an argument: this is a view, or an argument's alias, and takes nothing new.
    if block is None:
        made = wrap(out, target, None if storage is None else machine.new_block(storage, target.index))
        call.fresh.append(made)
        return made
    if torch.is_inference_mode_enabled() and not call.shells[0].is_inference():
        with torch.inference_mode(False):  # a view of an ordinary tensor is one
            return wrap(out, target, block)
    return wrap(out, target, block)


def _block_of_sparse(machine: Machine, out: torch.Tensor) -> Block | None:
    existing = None
    for part in parts_of(out):
        existing = machine.known_block(part.untyped_storage())
        if existing is None:
            return None
    return existing


def update_changed_metadata(tensor: SimTensor) -> None:
    """Update the metadata of a tensor on the device to those of its inner tensor.

    If they differed, the size of its block is updated, too.
    """
    if tensor._inner.layout is not torch.strided:
        hold_blocks_of_parts(tensor)
        return
    inner = tensor._inner
    if (
        inner.shape != tensor.shape
        or inner.stride() != tensor.stride()
        or inner.storage_offset() != tensor.storage_offset()
        or inner.dtype != tensor.dtype
        or inner.is_conj() != tensor.is_conj()
        or inner.is_neg() != tensor.is_neg()
    ):
        refresh_metadata(tensor)
        tensor._block.resize()
