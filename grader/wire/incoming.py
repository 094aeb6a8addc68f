"""One message being read: all of it is checked before it is used. Copies are messages to oneself."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch

from grader.wire.blocks import Block
from grader.wire.bounds import ProtocolFault
from grader.wire.changes import change_array, change_container, change_tensor, remember
from grader.wire.checked import MAX_NUMBER, whole
from grader.wire.claimed import note_claims, own_version
from grader.wire.containers import build_container, weigh
from grader.wire.describe import build_array, build_tensor
from grader.wire.devices import arrived, placed
from grader.wire.exchange import Exchange, Known
from grader.wire.graphs import with_graph
from grader.wire.handles import HandleRow, Remote
from grader.wire.outgoing import Outgoing
from grader.wire.plain import constant
from grader.wire.public import public_thing
from grader.wire.rows import ArrayRow, BlockRow, Claims, ObjectRow, Row, TensorRow, Told

_MOST_KINDS = 1000


class Incoming:
    """One message being read: takes in the objects and memory it tells of, then gives values.

    Args:
        exchange: this end's table.
        told: the part of the message that tells of objects and memory.
        data: the memory.
        mapped: whether new blocks lie in `data` itself, into which the other end will write, and are no copies of it.

    Raises:
        ProtocolFault: something in it is not as it must be.
    """

    def __init__(self, exchange: Exchange, told: object, data: memoryview, *, mapped: bool = False) -> None:
        self.data = data
        self._exchange = exchange
        self._mapped = mapped
        self._held: list[object] = []  # new objects: the table of the asking end is weak
        rows = Told.read(told, exchange.caps, asks=exchange.asks)
        if not exchange.asks:
            if rows.fresh:
                exchange.reset()
            exchange.forget(rows.forget)
        weigh(exchange.containers, (*rows.new, *rows.changed), exchange.caps)
        # Memory first, since new objects lie in it; changes last, since what is known may now hold what is new.
        # Whoever receives may be in inference mode: tensors made in it would have no version, and take no gradient.
        with torch.inference_mode(False) if torch.is_inference_mode_enabled() else nullcontext():
            self._take_blocks(rows.blocks)
            self._take_new(rows.new)
            self._take_changes(rows.changed)
            arrived()
        if not exchange.asks:
            exchange.drop_blocks()

    def _take_blocks(self, rows: list[BlockRow]) -> None:
        exchange, data = self._exchange, self.data
        rest = len(data)  # no byte belongs to two blocks: many of them would be more than a message may hold
        for number, size, start, writable in rows:
            rest -= size
            if start + size > len(data) or rest < 0:
                raise ProtocolFault("a block lies outside the data, or shares it with another")
            part = data[start : start + size]
            block = exchange.blocks.get(number)
            if block is None:
                if not exchange.is_other_ends(number):
                    raise ProtocolFault("a block has a number of ours")
                # A timed call's memory stays shared, so that its numbers can be written when the clock runs. Only a
                # worker is sent such: what a worker shares it could change after we had looked, so that is copied.
                if self._mapped:
                    exchange.blocks[number] = Block.over(number, part, writable=writable)
                    continue
                block = exchange.blocks[number] = Block.allocate(number, size, writable=writable)
            # What may be written is what this end says of its own memory, not what the message says.
            elif block.size != size or not block.hold() or (exchange.asks and not block.writable):
                raise ProtocolFault("a block of ours cannot be overwritten so")
            else:
                exchange.note_overwritten(number, block)
            block.write(part)
            block.last = bytes(part)

    def _take_new(self, rows: list[ObjectRow]) -> None:
        exchange = self._exchange
        for number, row in rows:
            # Each end has its own half of the numbers. So a worker cannot put an object in the place of one of ours.
            taken = number in exchange.known or number in exchange.containers
            if taken or not exchange.is_other_ends(number):
                raise ProtocolFault("a new object has a number that is taken")
            self._build(number, row)
        for number, row in rows:  # gradients may be told after their tensors
            if isinstance(row, TensorRow) and row.grad is not None:
                self._set_grad(exchange.known[number], row.grad)

    def _build(self, number: int, row: Row) -> None:
        exchange = self._exchange
        if isinstance(row, TensorRow):
            tensor = build_tensor(row, exchange.blocks, exchange.caps)
            if exchange.asks:
                tensor = with_graph(exchange, number, tensor, row.claims)
            else:
                tensor = _as_told(tensor, row.claims)
            known = exchange.register(number, tensor)
            known.base_version = own_version(tensor)
            known.row = row
            self._held.append(tensor)
        elif isinstance(row, ArrayRow):
            array = build_array(row, exchange.blocks, exchange.caps)
            exchange.register(number, array).row = row
            self._held.append(array)
        elif not isinstance(row, HandleRow):
            exchange.register_container(number, build_container(row, self.value, exchange.named), row)
        elif exchange.make_handle is not None:
            exchange.kinds.add(row)
            if len(exchange.kinds) > _MOST_KINDS:  # each has a class here
                raise ProtocolFault("objects of too many classes")
            handle = exchange.make_handle(number, row)
            exchange.register(number, handle)
            self._held.append(handle)
        else:
            raise ProtocolFault("an object that stays at the other end has no place here")

    def _take_changes(self, rows: list[ObjectRow]) -> None:
        exchange = self._exchange
        for number, row in rows:
            obj = exchange.look_up(number)
            if obj is None:
                continue  # dropped here meanwhile
            known = exchange.known.get(number)
            if known is None:
                exchange.note_overwritten(number, obj)
                self._change_container(number, obj, row)
            elif isinstance(row, TensorRow) and isinstance(obj, torch.Tensor):
                was = known.row.grad if isinstance(known.row, TensorRow) else None
                if isinstance(known.row, TensorRow) and known.row.not_claimed() != row.not_claimed():
                    exchange.note_overwritten(number, obj)
                change_tensor(exchange, obj, known, row)
                known.row = row
                # Told as before, it is left alone: the check may have set another one since.
                if row.grad != was and obj.is_leaf:
                    remember(exchange, obj, known)
                    self._set_grad(known, row.grad)
            elif isinstance(row, ArrayRow) and isinstance(obj, np.ndarray):
                exchange.note_overwritten(number, obj)
                if (other := change_array(exchange, number, obj, known, row)) is not None:
                    self._held.append(other)
            else:
                raise ProtocolFault("an object cannot change its kind")

    def _change_container(self, number: int, obj: object, row: Row) -> None:
        if isinstance(row, (TensorRow, ArrayRow, HandleRow)):
            raise ProtocolFault("an object cannot change its kind")
        change_container(self._exchange, obj, build_container(row, self.value))
        self._exchange.containers[number].agree(row)

    def _set_grad(self, known: Known, number: int | None) -> None:
        tensor = known.refer()
        if not tensor.is_leaf:  # it has none that could be set
            return
        try:
            tensor.grad = None if number is None else self.value(["known", number])
        except (RuntimeError, TypeError) as error:
            raise ProtocolFault(f"a gradient does not fit its tensor: {error}") from None

    def value(self, item: object) -> Any:
        """The object that a value of the tree stands for.

        Raises:
            ProtocolFault: there is no such thing.
        """
        if item is None or isinstance(item, (bool, int, float, str)):
            return item
        if not isinstance(item, list) or not item:
            raise ProtocolFault("a value of an unknown form")
        if item[0] == "known" and len(item) == 2:
            obj = self._exchange.look_up(whole(item[1], 0, MAX_NUMBER))
            if obj is None:
                raise ProtocolFault("a value refers to an unknown object")
            return obj
        if item[0] == "named" and len(item) == 3 and self._exchange.find is not None:
            return self._exchange.find(item[1], item[2])
        if item[0] == "remote" and len(item) == 2 and self._exchange.remotes is not None:
            return self._exchange.remotes[item[1]]
        if item[0] == "public" and len(item) == 2 and not self._exchange.asks:
            return public_thing(item[1])
        if item[0] == "path" and len(item) == 2 and not self._exchange.asks:
            return Path(self.value(item[1]))
        return constant(item)


def copies(*values: object, originals: Exchange | None = None) -> tuple[Any, ...]:
    """Deep copies that share memory among themselves as the values do.

    Args:
        values: anything that can be handed over.
        originals: an exchange whose other end may have changed the values: copy them as they were before.
    """
    # A message from one new table to another. So a copy has whatever would arrive in a worker, and is refused as there.
    remotes: list[Remote] = []
    out = Outgoing(Exchange(asks=True, remotes=remotes), originals)
    items = [out.value(value) for value in values]
    told, data = out.finish()
    whole_data = bytearray().join(data)
    incoming = Incoming(Exchange(asks=False, remotes=remotes), told, memoryview(whole_data))
    return tuple(incoming.value(item) for item in items)


def _as_told(tensor: torch.Tensor, claims: Claims) -> torch.Tensor:
    """A tensor as a worker holds it: as the check made it."""
    if claims.device != "cpu":
        there = placed(tensor, claims.device)
        if there is tensor:  # a copy that a check makes of its own
            note_claims(tensor, Claims(device=claims.device))
        tensor = there
    if claims.type == "Parameter":
        tensor._is_param = True  # by this PyTorch knows one
    return tensor.requires_grad_() if claims.requires_grad else tensor
