"""What the other end changed of an object that this end holds: made here, on the same object."""

from __future__ import annotations

from typing import Any

import torch

from grader.wire.blocks import Array
from grader.wire.bounds import ProtocolFault
from grader.wire.claimed import note_claims
from grader.wire.describe import build_array, build_tensor
from grader.wire.devices import placed
from grader.wire.exchange import Before, Changed, Exchange, Known
from grader.wire.rows import ArrayRow, TensorRow


def change_tensor(exchange: Exchange, obj: torch.Tensor, known: Known, row: TensorRow) -> None:
    """Make a tensor what a row tells. Its gradient is another object, and set afterwards.

    Raises:
        ProtocolFault: it cannot become that.
    """
    was = known.row
    if not isinstance(was, TensorRow):
        raise ProtocolFault("an object cannot change its kind")
    tensor = build_tensor(row, exchange.blocks, exchange.caps)
    lazy_flags_differ = (was.claims.is_conj, was.claims.is_neg) != (row.claims.is_conj, row.claims.is_neg)
    if (was.layout, was.place) != (row.layout, row.place) or lazy_flags_differ:
        remember(exchange, obj, known)
        # The check's own variable is this very object. So it gets other memory and stays itself, as it did there.
        try:
            obj.data = tensor if exchange.asks else placed(tensor, row.claims.device)
        except (RuntimeError, TypeError) as error:
            raise ProtocolFault(f"a tensor cannot change like that: {error}") from None
    if exchange.asks:
        note_claims(obj, row.claims)
    elif obj.is_leaf and obj.requires_grad != row.claims.requires_grad:
        obj.requires_grad_(row.claims.requires_grad)


def remember(exchange: Exchange, obj: torch.Tensor, known: Known) -> None:
    """Keep a tensor of the asking end as it is, before it is changed: a reference is given the original."""
    # The first time alone. Later it is as student code left it, which no reference should be given.
    if exchange.asks and known.before is None and known.row is not None:
        before = obj.detach().requires_grad_(obj.requires_grad)
        before.grad = obj.grad if obj.is_leaf else None
        known.before = Before(before, known.row.block)


def change_array(exchange: Exchange, number: int, obj: Array, known: Known, row: ArrayRow) -> Array | None:
    """Make an array what a row tells, or give the other one that takes its place.

    Raises:
        ProtocolFault: it cannot become that.
    """
    array = build_array(row, exchange.blocks, exchange.caps)
    was = known.row
    if not isinstance(was, ArrayRow):
        raise ProtocolFault("an object cannot change its kind")
    if (was.dtype, was.block, was.offset) != (row.dtype, row.block, row.offset) or obj.size != array.size:
        exchange.register(number, array).row = row  # an array cannot be moved
        return array
    known.row = row
    if obj.shape != array.shape:
        try:
            obj.shape = array.shape
        except AttributeError:  # with its strides it would have to be copied
            raise ProtocolFault("an array cannot change its shape like that") from None
    if not array.flags.writeable:
        obj.flags.writeable = False
    return None


def change_container(exchange: Exchange, obj: Any, told: Any) -> None:
    """Give a list, dict or set the items that were told of it.

    Raises:
        ProtocolFault: it is of another kind.
    """
    kind = next((kind for kind in (list, dict, set) if isinstance(obj, kind) and isinstance(told, kind)), None)
    if kind is None:
        raise ProtocolFault("a container cannot change its kind")
    if not exchange.asks:
        _fill(obj, told)
        return
    # The original is the oldest that this end has not changed since, however often the other end changes it.
    earlier = exchange.original_container(obj)
    before = obj.copy() if earlier is obj else earlier
    _fill(obj, told)
    exchange.changed_containers[id(obj)] = Changed(obj, before, told)


def _fill(obj: Any, told: Any) -> None:
    if isinstance(obj, list):
        obj[:] = told
    else:  # not assigned: a Counter stays a Counter
        obj.clear()
        obj.update(told)
