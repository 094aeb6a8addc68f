"""One message being read: all of it is checked before it is used. Copies are messages to oneself."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import torch

from grader.wire.blocks import Block
from grader.wire.describe import Claims, build_array, build_tensor, read_claims, whole
from grader.wire.devices import arrived, placed
from grader.wire.exchange import Exchange, HandleClaims, Known
from grader.wire.frames import ProtocolFault
from grader.wire.nesting import CONTAINERS, too_much
from grader.wire.outgoing import Outgoing
from grader.wire.plain import MAX_TEXT, constant

_MAX_NUMBER = 1 << 31
_INLINE_INT = 1 << 63
_COLLISIONS = 100
_MUTABLE = ("list", "dict", "set")


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

    def __init__(self, exchange: Exchange, told: Any, data: memoryview, *, mapped: bool = False) -> None:
        self.data = data
        self._exchange = exchange
        self._mapped = mapped
        self._held: list[Any] = []  # new objects: the table of the asking end is weak
        self._hashed = 0
        if not isinstance(told, dict):
            raise ProtocolFault("a message does not tell of its objects")
        if not exchange.asks:
            if told.get("fresh"):
                exchange.reset()
            exchange.forget(_rows(told.get("forget")))
        new, changed = _rows(told.get("new")), _rows(told.get("changed"))
        self._weigh(new, changed)
        with torch.inference_mode(False):
            self._take_blocks(_rows(told.get("blocks")), data)
            self._take_new(new)
            self._take_changes(changed)
            arrived()
        if not exchange.asks:
            exchange.drop_blocks()

    def _weigh(self, new: list[Any], changed: list[Any]) -> None:
        """Refuse what would hold itself, be deep, or be huge once every shared part is counted where it occurs.

        What is weighed is what will be built: no container is told twice, and of ours only those that can change.
        """
        containers = {number: known.description for number, known in self._exchange.containers.items()}
        told: set[int] = set()
        for row in (*new, *changed):
            match row:
                case [int(number), [str(kind), list() as items]] if kind in CONTAINERS:
                    ours = containers.get(number)
                    if number in told or (ours is not None and (ours[0] != kind or kind not in _MUTABLE)):
                        raise ProtocolFault("a container is told twice, or cannot change like that")
                    told.add(number)
                    containers[number] = [kind, items]
        if (reason := too_much(containers, self._exchange.caps)) is not None:
            raise ProtocolFault(reason)

    def _take_blocks(self, rows: list[Any], data: memoryview) -> None:
        exchange = self._exchange
        rest = len(data)  # no byte belongs to two blocks: many of them would be more than a message may hold
        for row in rows:
            number, size, offset, writable = _row(row, 4)
            number = whole(number, 0, _MAX_NUMBER)
            size = whole(size, 0, exchange.caps.data_bytes)
            offset = whole(offset, 0, exchange.caps.data_bytes)
            rest -= size
            if offset + size > len(data) or rest < 0:
                raise ProtocolFault("a block lies outside the data, or shares it with another")
            block = exchange.blocks.get(number)
            if block is None:
                if not exchange.is_other_ends(number):
                    raise ProtocolFault("a block has a number of ours")
                if self._mapped:
                    memory = data[offset : offset + size]
                    exchange.blocks[number] = Block.over(number, memory, writable=bool(writable))
                    continue
                block = exchange.blocks[number] = Block.allocate(number, size, writable=bool(writable))
            elif block.size != size or not block.hold() or (exchange.asks and not block.writable):
                raise ProtocolFault("a block of ours cannot be overwritten so")
            block.write(data[offset : offset + size])
            block.last = bytes(data[offset : offset + size])

    def _take_new(self, rows: list[Any]) -> None:
        if len(rows) > self._exchange.caps.objects:
            raise ProtocolFault("a message tells of too many objects")
        for row in rows:
            number, description = _row(row, 2)
            number = whole(number, 0, _MAX_NUMBER)
            taken = number in self._exchange.known or number in self._exchange.containers
            if taken or not self._exchange.is_other_ends(number):
                raise ProtocolFault("a new object has a number that is taken")
            self._build(number, description)
        for number, _ in rows:  # gradients may be told after their tensors
            self._take_grad(number)

    def _build(self, number: int, description: Any) -> None:
        exchange = self._exchange
        kind = description[0] if isinstance(description, list) and description else None
        if kind == "tensor":
            tensor, claims = build_tensor(description, exchange.blocks, exchange.caps.data_bytes)
            tensor = _with_claims(tensor, claims, ours=exchange.asks)
            known = exchange.register(number, tensor)
            known.base_version = 0 if exchange.asks else tensor._version
            known.description = description
            self._held.append(tensor)
        elif kind == "array":
            array = build_array(description, exchange.blocks, exchange.caps.data_bytes)
            exchange.register(number, array).description = description
            self._held.append(array)
        elif kind == "handle" and exchange.make_handle is not None:
            _, name, is_callable, text = _row(description, 4)
            if not isinstance(name, str) or not isinstance(text, str) or len(name) + len(text) > 3 * MAX_TEXT:
                raise ProtocolFault("a handle is described wrongly")
            handle = exchange.make_handle(number, HandleClaims(name, bool(is_callable), text))
            exchange.register(number, handle)
            self._held.append(handle)
        else:
            container = self._container(description)
            exchange.register(number, container, container=True).description = description

    def _container(self, description: Any) -> Any:
        kind, items = _row(description, 2)
        if not isinstance(items, list):
            raise ProtocolFault("a container is described wrongly")
        try:
            return self._built_container(kind, items)
        except (TypeError, ValueError, RuntimeError):  # the last: a tensor was compared with a key of the same hash
            raise ProtocolFault("a key or a member of a set is not hashable, or a part is not possible") from None

    def _built_container(self, kind: Any, items: list[Any]) -> Any:
        match kind:
            case "list":
                return [self.value(item) for item in items]
            case "tuple":
                return tuple(self.value(item) for item in items)
            case "size":
                return torch.Size(whole(item, -_INLINE_INT, _INLINE_INT - 1) for item in items)
            case "slice" if len(items) == 3:
                return slice(*(self.value(item) for item in items))
            case "range" if len(items) == 3:
                return range(*(self.value(item) for item in items))
            case "set":
                return set(self._keys(items))
            case "frozenset":
                return frozenset(self._keys(items))
            case "dict":
                keys = self._keys([_row(item, 2)[0] for item in items])
                return dict(zip(keys, (self.value(item) for _, item in items), strict=True))
        raise ProtocolFault("an object of an unknown kind")

    def _keys(self, items: list[Any]) -> list[Any]:
        """Keys or members, among which few have the same hash: with many, a dict or set would take hours to build."""
        keys = [self.value(item) for item in items]
        if keys and Counter(map(hash, keys)).most_common(1)[0][1] > _COLLISIONS:
            raise ProtocolFault("too many keys or members of a set have the same hash")
        return keys

    def _take_changes(self, rows: list[Any]) -> None:
        for row in rows:
            number, description = _row(row, 2)
            number = whole(number, 0, _MAX_NUMBER)
            known = self._exchange.known.get(number) or self._exchange.containers.get(number)
            obj = known.refer() if known else None
            if known is None or obj is None:
                continue  # dropped here meanwhile
            kind = description[0] if isinstance(description, list) and description else None
            if kind == "tensor" and isinstance(obj, torch.Tensor):
                was = known.description[9]
                self._change_tensor(obj, known, description)
                known.description = description
                self._take_grad(number, was, changed=True)
            elif kind == "array" and isinstance(obj, np.ndarray):
                self._change_array(obj, number, known, description)
            elif number in self._exchange.containers:
                self._change_container(obj, description)
            else:
                raise ProtocolFault("an object cannot change its kind")

    def _change_tensor(self, obj: torch.Tensor, known: Known, description: list[Any]) -> None:
        exchange = self._exchange
        tensor, claims = build_tensor(description, exchange.blocks, exchange.caps.data_bytes)
        was = read_claims(known.description[8])
        lazy_flags_differ = (was.is_conj, was.is_neg) != (claims.is_conj, claims.is_neg)
        if known.description[1:8] != description[1:8] or lazy_flags_differ:
            self._remember(obj, known)
            try:
                obj.data = tensor if exchange.asks else placed(tensor, claims.device)
            except (RuntimeError, TypeError) as error:
                raise ProtocolFault(f"a tensor cannot change like that: {error}") from None
        if exchange.asks:
            obj.__dict__["_claims"] = claims
        elif obj.is_leaf and obj.requires_grad != claims.requires_grad:
            obj.requires_grad_(claims.requires_grad)

    def _remember(self, obj: torch.Tensor, known: Known) -> None:
        """Keep a tensor of the asking end as it is, before it is changed: a reference is given the original."""
        if self._exchange.asks and known.before is None:
            before = obj.detach().requires_grad_(obj.requires_grad)
            before.grad = obj.grad if obj.is_leaf else None
            known.before = (before, known.description[5])

    def _change_array(self, obj: np.ndarray, number: int, known: Known, description: list[Any]) -> None:
        array = build_array(description, self._exchange.blocks, self._exchange.caps.data_bytes)
        was = known.description
        if was[1] != description[1] or was[4:6] != description[4:6] or obj.size != array.size:
            self._exchange.register(number, array).description = description  # it moved: another takes its place
            self._held.append(array)
            return
        known.description = description
        if obj.shape != array.shape:
            try:
                obj.shape = array.shape
            except AttributeError:
                raise ProtocolFault("an array cannot change its shape like that") from None
        if not array.flags.writeable:
            obj.flags.writeable = False

    def _change_container(self, obj: Any, description: Any) -> None:
        new = self._container(description)
        kind = next((kind for kind in (list, dict, set) if isinstance(obj, kind) and isinstance(new, kind)), None)
        if kind is None:
            raise ProtocolFault("a container cannot change its kind")
        earlier = self._exchange.original_container(obj)
        before = obj.copy() if earlier is obj else earlier
        if kind is list:
            obj[:] = new
        else:
            obj.clear()
            obj.update(new)
        self._exchange.changed_containers[id(obj)] = (obj, before, new)

    def _take_grad(self, number: int, was: Any = None, *, changed: bool = False) -> None:
        """Set the gradient that a tensor is told to have, unless it is the one that was told before."""
        known = self._exchange.known.get(number)
        tensor = known.refer() if known else None
        if known is None or not isinstance(tensor, torch.Tensor) or known.description[9] == was or not tensor.is_leaf:
            return
        grad = None if known.description[9] is None else self.value(known.description[9])
        if changed:
            self._remember(tensor, known)
        try:
            tensor.grad = grad
        except (RuntimeError, TypeError) as error:
            raise ProtocolFault(f"a gradient does not fit its tensor: {error}") from None

    def value(self, item: Any) -> Any:
        """The object that a value of the tree stands for.

        Raises:
            ProtocolFault: there is no such thing.
        """
        if item is None or isinstance(item, (bool, int, float, str)):
            return item
        if not isinstance(item, list) or not item:
            raise ProtocolFault("a value of an unknown form")
        if item[0] == "known" and len(item) == 2:
            obj = self._exchange.look_up(whole(item[1], 0, _MAX_NUMBER))
            if obj is None:
                raise ProtocolFault("a value refers to an unknown object")
            return obj
        if item[0] == "named" and len(item) == 3 and self._exchange.find is not None:
            return self._exchange.find(item[1], item[2])
        return constant(item)


def copies(*values: Any, originals: Exchange | None = None) -> tuple[Any, ...]:
    """Deep copies that share memory among themselves as the values do.

    Args:
        values: anything that can be handed over.
        originals: an exchange whose other end may have changed the values: copy them as they were before.
    """
    out = Outgoing(Exchange(asks=True), originals)
    items = [out.value(value) for value in values]
    told, data = out.finish()
    whole_data = bytearray().join(data)
    incoming = Incoming(Exchange(asks=False), told, memoryview(whole_data))
    return tuple(incoming.value(item) for item in items)


def _with_claims(tensor: torch.Tensor, claims: Claims, *, ours: bool) -> torch.Tensor:
    """A tensor as this end holds it: detached with claims beside it, or (in the worker) as the check made it."""
    if ours:
        tensor.__dict__["_claims"] = claims
        return tensor
    if claims.device != "cpu":
        there = placed(tensor, claims.device)
        if there is tensor:  # a copy that a check makes of its own
            tensor.__dict__["_claims"] = Claims(device=claims.device)
        tensor = there
    return tensor.requires_grad_() if claims.requires_grad else tensor


def _rows(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ProtocolFault("a list is missing")
    return value


def _row(value: Any, length: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != length:
        raise ProtocolFault("a row is of the wrong length")
    return value
