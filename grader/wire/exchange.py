"""Objects by number and memory by block: what two processes have in common during one check.

Both ends hold an `Exchange`. The asking end (the check process) numbers with even numbers and holds its objects weakly:
when a check drops a tensor, the worker is told to forget it. The answering end (the worker) numbers with odd ones and
holds strongly, so that what a check still has is still there. Containers are known for one call.

Every message carries the blocks whose bytes changed since both ends last agreed, new objects, and known objects whose
description changed. So the same object in gives the same object out, a changed argument is changed at the asking end
(by copy), and what shares memory at one end shares it at the other.
"""

from __future__ import annotations

import bisect
import itertools
import json
import math
import re
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from grader.wire.describe import (
    DTYPES,
    MAX_DIMS,
    NAMES,
    Claims,
    array_dtype,
    build_array,
    build_tensor,
    describe_array,
    describe_tensor,
    odd_array,
    odd_tensor,
    read_claims,
    whole,
)
from grader.wire.frames import Caps, ProtocolFault, Unsupported, check_tree
from grader.wire.memory import Block, Extent, array_extent, merge, storage_extent

_MAX_NUMBER = 1 << 31
_INLINE_INT = 1 << 63
_MAX_INT_DIGITS = 1 << 16
_MAX_TEXT = 500
_ENTRIES = 100_000
_COLLISIONS = 100
_LARGE = 1 << 16
_HASHED = ("dict", "set", "frozenset")
_CONTAINERS = ("list", "tuple", "dict", "set", "frozenset", "size", "slice", "range")
_DEVICE = re.compile(r"(cpu|cuda|meta|mps|xpu|xla|hpu|mtia|hip|ipu|ve|vulkan|lazy|maia|privateuseone)(:[0-9]{1,3})?")
_TORCH_CONSTANTS = {
    str(constant): constant
    for constant in (torch.strided, torch.contiguous_format, torch.preserve_format, torch.channels_last)
}

_ORDERED = {"list": list, "size": torch.Size, "slice": slice, "range": range, "tuple": tuple}

Leaf = torch.Tensor | np.ndarray


class Remote:
    """Something that lives in a worker: a function, a class, an object. Known here only by its name on the wire."""

    wire_name: list[Any]


@dataclass(frozen=True)
class HandleClaims:
    """What a worker says of an object that stays with it."""

    type: str
    callable: bool
    text: str


@dataclass
class _Known:
    refer: Callable[[], Any]
    description: Any = None
    base_version: int = 0
    before: tuple[torch.Tensor, int] | None = None
    """As it was before the other end gave it another shape, storage or gradient, and the number of its block then."""


def claims_of(tensor: torch.Tensor) -> Claims | None:
    """What the worker claimed of a tensor that it returned, or None for a tensor of our own."""
    claims = tensor.__dict__.get("_claims")
    return claims if isinstance(claims, Claims) else None


class Exchange:
    """One end's table of objects and blocks.

    Args:
        asks: whether this is the asking end.
        caps: what one message may hold.
        make_handle: builds what stands here for an object that stays at the other end (asking end only).
        find: gives the object behind a name such as ("student", "total") (answering end only).
    """

    def __init__(
        self,
        *,
        asks: bool,
        caps: Caps | None = None,
        make_handle: Callable[[int, HandleClaims], Any] | None = None,
        find: Callable[[str, str], Any] | None = None,
    ) -> None:
        self.asks = asks
        self.caps = caps or Caps()
        self.make_handle = make_handle
        self.find = find
        self.known: dict[int, _Known] = {}
        self.numbers: dict[int, int] = {}
        self.blocks: dict[int, Block] = {}
        self.retired: dict[int, Block] = {}
        self.containers: dict[int, _Known] = {}
        self.changed_containers: dict[int, tuple[Any, Any, Any]] = {}
        self.fresh = False
        self._next = 0 if asks else 1

    def new_number(self) -> int:
        """The next number of this end."""
        self._next += 2
        return self._next

    def is_other_ends(self, number: int) -> bool:
        """Whether the other end may introduce this number."""
        return number % 2 == (1 if self.asks else 0)

    def look_up(self, number: int) -> Any:
        """The object of a number, or None."""
        known = self.known.get(number) or self.containers.get(number)
        return known.refer() if known else None

    def number_of(self, obj: Any) -> int | None:
        """The number of an object, or None if it has none."""
        number = self.numbers.get(id(obj))
        return number if number is not None and self.look_up(number) is obj else None

    def register(self, number: int, obj: Any, *, container: bool = False) -> _Known:
        """Give an object its number."""
        if container or not self.asks:
            known = _Known(lambda: obj)
        else:
            known = _Known(weakref.ref(obj))
        (self.containers if container else self.known)[number] = known
        self.numbers[id(obj)] = number
        return known

    def forget(self, numbers: Iterable[int]) -> None:
        """Drop objects."""
        for number in numbers:
            self.known.pop(number, None)
        live = set(self.known) | set(self.containers)
        self.numbers = {identity: number for identity, number in self.numbers.items() if number in live}

    def end_call(self) -> None:
        """Drop the containers: they are known for one call. The asking end no longer holds any memory."""
        if self.containers:
            self.containers = {}
            self.forget(())
        if self.asks:
            for block in (*self.blocks.values(), *self.retired.values()):
                block.release()

    def reset(self) -> None:
        """Drop everything, at both ends: a new check begins."""
        self.known, self.numbers, self.blocks, self.containers = {}, {}, {}, {}
        self.retired = {}
        self.changed_containers = {}
        self.fresh = self.asks

    def original(self, start: int, size: int) -> bytes | None:
        """The bytes of a range as they were before the other end changed them, or None if they are as they were.

        A range that this end wrote afterwards counts as it is now.
        """
        for block in (*self.retired.values(), *self.blocks.values()):
            if block.first is not None and block.last != block.first and block.holds(start, size):
                as_told = block.hold() and block.read() == block.last
                block.release()
                if as_told:
                    return block.first[start - block.start : start - block.start + size]
        return None

    def original_tensor(self, obj: torch.Tensor) -> torch.Tensor:
        """A tensor as it was before the other end gave it another shape, storage or gradient.

        One that this end changed afterwards counts as it is now.
        """
        number = self.number_of(obj)
        known = None if number is None else self.known[number]
        if known is None or known.before is None:
            return obj
        _, name, shape, strides, offset, block_number, start, _, _, grad = known.description
        block = self.blocks.get(block_number)
        geometry = (NAMES.get(obj.dtype), list(obj.shape), list(obj.stride()), obj.storage_offset())
        moved = block is not None and obj.untyped_storage().data_ptr() != block.start + start
        same_grad = not obj.is_leaf or (None if grad is None else self.look_up(grad[1])) is obj.grad
        return known.before[0] if geometry == (name, shape, strides, offset) and not moved and same_grad else obj

    def original_container(self, obj: Any) -> Any:
        """A container as it was before the other end changed it."""
        before = self.changed_containers.get(id(obj))
        return before[1] if before and before[0] is obj and _same_items(before[2], obj) else obj


class Outgoing:
    """One message being written.

    Args:
        exchange: this end's table.
        originals: another exchange whose other end may have changed the values: send them as they were before.
    """

    def __init__(self, exchange: Exchange, originals: Exchange | None = None) -> None:
        self._exchange = exchange
        self._originals = originals
        self._new: list[list[Any]] = []
        self._leaves: dict[int, Leaf] = {}
        self._open: set[int] = set()
        self._pinned: list[Any] = []
        self._made: list[int] = []
        self._items: list[Any] = []
        self._size = 0

    def value(self, obj: Any) -> Any:
        """An object as a value of the tree.

        Raises:
            Unsupported: it cannot be handed over. Nothing of this message is known then.
        """
        try:
            item = self._value(obj, 0)
        except Unsupported:
            self._withdraw()
            raise
        self._items.append(item)
        return item

    def _withdraw(self) -> None:
        for number in self._made:
            self._exchange.containers.pop(number, None)
        self._exchange.forget(self._made)

    def _register(self, obj: Any, *, container: bool = False) -> tuple[int, _Known]:
        number = self._exchange.new_number()
        self._made.append(number)
        return number, self._exchange.register(number, obj, container=container)

    def _value(self, obj: Any, depth: int) -> Any:
        kind = type(obj)
        self._size += 1
        if obj is None or kind in (bool, float):
            return obj
        if kind is str:
            self._size += len(obj)
            return _plain_text(obj)
        if kind is int:
            return self._integer(obj)
        if isinstance(obj, Remote) and self._exchange.asks:
            return obj.wire_name
        number = self._exchange.number_of(obj)
        if number is not None:
            return ["known", number]
        if isinstance(obj, torch.Tensor):
            reason = odd_tensor(obj)
            return self._leaf(obj) if reason is None else self._handle(obj, reason)
        if isinstance(obj, np.ndarray):
            reason = odd_array(obj)
            return self._leaf(obj) if reason is None else self._handle(obj, reason)
        plain = _plain_constant(obj)
        if plain is not None:
            self._size += sum(len(part) for part in plain if isinstance(part, str))
            return plain
        if isinstance(obj, (list, tuple, dict, set, frozenset, slice, range)):
            return self._container(obj, depth)
        for plain_kind in (int, float, str):
            if isinstance(obj, plain_kind):  # a subclass, such as an IntEnum
                return self._value(plain_kind(obj), depth)
        return self._handle(obj, None)

    def _integer(self, obj: int) -> Any:
        if -_INLINE_INT <= obj < _INLINE_INT:
            return obj
        if obj.bit_length() > 4 * _MAX_INT_DIGITS:
            raise Unsupported(f"an int of {obj.bit_length()} bits is too large to hand over")
        self._size += obj.bit_length() // 4
        return ["int", hex(obj)]

    def _leaf(self, obj: Leaf) -> Any:
        if self._originals is not None and isinstance(obj, torch.Tensor):
            before = self._originals.original_tensor(obj)
            if before is not obj:
                return self._value(before, 0)
        number, _ = self._register(obj)
        self._leaves[number] = obj
        self._pinned.append(obj)
        return ["known", number]

    def _handle(self, obj: Any, reason: str | None) -> Any:
        if self._exchange.asks:
            what = reason or f"a {type(obj).__name__}"
            raise Unsupported(f"{what} cannot be handed to a worker; what must run beside student code is a probe")
        number, _ = self._register(obj)
        described = ["handle", type(obj).__name__[:_MAX_TEXT], callable(obj), reason or ""]
        self._new.append([number, described])
        return ["known", number]

    def _container(self, obj: Any, depth: int) -> Any:
        if depth >= self._exchange.caps.depth:
            raise Unsupported("containers are nested too deeply to hand over")
        if id(obj) in self._open:
            raise Unsupported("a container that holds itself cannot be handed over")
        self._open.add(id(obj))
        described = self._described_container(obj, depth)
        self._open.discard(id(obj))
        number, known = self._register(obj, container=True)
        known.description = described
        self._new.append([number, described])
        return ["known", number]

    def _described_container(self, obj: Any, depth: int) -> list[Any]:
        if self._originals is not None:
            obj = self._originals.original_container(obj)
        if isinstance(obj, dict):
            return ["dict", [[self._value(key, depth + 1), self._value(item, depth + 1)] for key, item in obj.items()]]
        if isinstance(obj, (set, frozenset)):
            items = [self._value(item, depth + 1) for item in obj]
            return ["set" if isinstance(obj, set) else "frozenset", sorted(items, key=json.dumps)]
        kind = next(kind for kind, class_ in _ORDERED.items() if isinstance(obj, class_))
        parts = (obj.start, obj.stop, obj.step) if kind in ("slice", "range") else obj
        return [kind, [self._value(item, depth + 1) for item in parts]]

    def finish(self) -> tuple[dict[str, Any], list[bytes]]:
        """The part of the message that tells of objects and memory, and the memory.

        Call it once, after the last `value`.

        Raises:
            Unsupported: it is more than a message may hold. Nothing of this message is known then.
        """
        try:
            return self._finish()
        except Unsupported:
            self._withdraw()
            raise

    def _finish(self) -> tuple[dict[str, Any], list[bytes]]:
        exchange = self._exchange
        forgotten = [number for number, known in exchange.known.items() if known.refer() is None]
        changed = [] if exchange.asks else self._changed_containers()
        leaves = self._all_leaves()
        self._pinned.extend(leaves.values())
        placed = self._place(leaves)
        descriptions = {
            number: self._describe(leaf, placed[number], exchange.known[number]) for number, leaf in leaves.items()
        }
        new = [[number, descriptions[number]] for number in self._leaves] + self._new
        for number, description in descriptions.items():
            if number not in self._leaves and description != exchange.known[number].description:
                changed.append([number, description])
        used = {block.number for block in placed.values() if block}
        blocks = self._changed_blocks(used)
        starts = itertools.accumulate((block.size for block, _ in blocks), initial=0)
        rows = [
            [block.number, block.size, start, block.writable] for (block, _), start in zip(blocks, starts, strict=False)
        ]
        data = [current for _, current in blocks]
        told: dict[str, Any] = {"new": new, "changed": changed, "blocks": rows}
        if exchange.asks:
            told.update(forget=forgotten, fresh=exchange.fresh)
        self._check_size(told, data)
        self._agree(descriptions, used, forgotten)
        for block, current in blocks:
            block.last = current
            block.first = current if exchange.asks else None
        return told, data

    def _agree(self, descriptions: dict[int, list[Any]], used: set[int], forgotten: list[int]) -> None:
        """The message is as good as sent: the other end will know what it tells."""
        exchange = self._exchange
        exchange.fresh = False
        exchange.forget(forgotten)
        for number, description in descriptions.items():
            known = exchange.known[number]
            was = known.description or description
            if (was[1:8], was[9:]) != (description[1:8], description[9:]):
                known.before = None  # changed by this end, or moved
            known.description = description
        kept = {known.before[1] for known in exchange.known.values() if known.before} - used
        blocks = exchange.retired | exchange.blocks
        exchange.retired = {number: block for number, block in blocks.items() if number in kept}
        exchange.blocks = {number: block for number, block in exchange.blocks.items() if number in used}
        self._pinned.extend(known.refer() for known in exchange.known.values())

    def _check_size(self, told: dict[str, Any], data: list[bytes]) -> None:
        caps = self._exchange.caps
        if len(told["new"]) > caps.objects:
            raise Unsupported(f"{len(told['new'])} separate objects are too many to hand over")
        if (size := sum(map(len, data))) > caps.data_bytes:
            raise Unsupported(f"the values are too large to hand over ({size / 2**20:.0f} MB)")
        containers = {number: known.description for number, known in self._exchange.containers.items()}
        containers.update(row for row in told["changed"] if row[1][0] in _CONTAINERS)
        if (reason := too_much(containers, caps)) is not None:
            raise Unsupported(f"{reason} to hand over")
        if self._size + 200 * (len(told["new"]) + len(told["changed"])) > _LARGE:
            check_tree(json.dumps([self._items, told], separators=(",", ":")).encode("ascii"), caps)

    def _changed_containers(self) -> list[list[Any]]:
        changed = []
        for number, known in list(self._exchange.containers.items()):
            obj = known.refer()
            if known.description is None or not isinstance(obj, (list, dict, set)):
                continue
            described = self._described_container(obj, 0)
            if json.dumps(described) != json.dumps(known.description):  # as text, for 1 == 1.0 == True
                changed.append([number, described])
        return changed

    def _all_leaves(self) -> dict[int, Leaf]:
        """Every live tensor and array that both ends know, the gradients among them."""
        leaves: dict[int, Leaf] = {}
        for number, known in list(self._exchange.known.items()):
            obj = known.refer()
            if isinstance(obj, torch.Tensor) and odd_tensor(obj) is None:
                leaves[number] = obj
                if obj.is_leaf and obj.grad is not None and odd_tensor(obj.grad) is None:
                    self._value(obj.grad, 0)
            elif isinstance(obj, np.ndarray) and odd_array(obj) is None:
                leaves[number] = obj
        return leaves | self._leaves

    def _place(self, leaves: dict[int, Leaf]) -> dict[int, Block | None]:
        """Find or make the block of each leaf: the same one for all that overlap, now or in an earlier message."""
        exchange = self._exchange
        exchange.blocks = {number: block for number, block in exchange.blocks.items() if block.hold()}
        self._by_start = sorted(exchange.blocks.values(), key=lambda block: block.start)
        extents = {number: _extent(leaf) for number, leaf in leaves.items()}
        groups = {id(extent): group for group in merge(list(filter(_has_size, extents.values()))) for extent in group}
        homes: dict[int, Block] = {}
        for extent in filter(_has_size, extents.values()):  # in the order of the leaves: the same numbers each time
            group = groups[id(extent)]
            if id(group) not in homes:
                start, end = group[0].start, max(extent.end for extent in group)
                block = self._block_of(start, end - start) or Block.of(exchange.new_number(), group)
                homes[id(group)] = exchange.blocks[block.number] = block
        return {number: homes[id(groups[id(extent)])] if extent.size else None for number, extent in extents.items()}

    def _block_of(self, start: int, size: int) -> Block | None:
        place = bisect.bisect_right(self._by_start, start, key=lambda block: block.start)
        block = self._by_start[place - 1] if place else None
        return block if block is not None and block.holds(start, size) else None

    def _describe(self, leaf: Leaf, block: Block | None, known: _Known) -> list[Any]:
        caps = self._exchange.caps
        if leaf.ndim > MAX_DIMS or math.prod(leaf.shape) * leaf.itemsize > caps.data_bytes:
            what = "a tensor" if isinstance(leaf, torch.Tensor) else "an array"
            raise Unsupported(f"{what} of shape {tuple(leaf.shape[:MAX_DIMS])} is too large to hand over")
        if isinstance(leaf, np.ndarray):
            return describe_array(leaf, block)
        grad = None
        if leaf.is_leaf and leaf.grad is not None:
            number = self._exchange.number_of(leaf.grad)
            grad = None if number is None else ["known", number]
        return describe_tensor(leaf, block, known.base_version, grad)

    def _changed_blocks(self, used: set[int]) -> list[tuple[Block, bytes]]:
        changed = []
        for block in self._exchange.blocks.values():
            if block.number not in used:
                continue
            current = block.read()
            if self._originals is not None:
                current = self._originals.original(block.start, block.size) or current
            if current != block.last:
                changed.append((block, current))
        return changed


class Incoming:
    """One message being read: takes in the objects and memory it tells of, then gives values.

    Raises:
        ProtocolFault: something in it is not as it must be.
    """

    def __init__(self, exchange: Exchange, told: Any, data: memoryview) -> None:
        self._exchange = exchange
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

    def _weigh(self, new: list[Any], changed: list[Any]) -> None:
        """Refuse what would hold itself, be deep, or be huge once every shared part is counted where it occurs."""
        containers = {number: known.description for number, known in self._exchange.containers.items()}
        for row in (*new, *changed):
            match row:
                case [int(number), [str(kind), list() as items]] if kind in _CONTAINERS:
                    containers[number] = [kind, items]
        if (reason := too_much(containers, self._exchange.caps)) is not None:
            raise ProtocolFault(reason)

    def _take_blocks(self, rows: list[Any], data: memoryview) -> None:
        exchange = self._exchange
        for row in rows:
            number, size, offset, writable = _row(row, 4)
            number = whole(number, 0, _MAX_NUMBER)
            size = whole(size, 0, exchange.caps.data_bytes)
            offset = whole(offset, 0, exchange.caps.data_bytes)
            if offset + size > len(data):
                raise ProtocolFault("a block lies outside the data")
            block = exchange.blocks.get(number)
            if block is None:
                if not exchange.is_other_ends(number):
                    raise ProtocolFault("a block has a number of ours")
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
            known = exchange.register(number, _with_claims(tensor, claims, ours=exchange.asks))
            known.base_version = 0 if exchange.asks else tensor._version
            known.description = description
            self._held.append(tensor)
        elif kind == "array":
            array = build_array(description, exchange.blocks, exchange.caps.data_bytes)
            exchange.register(number, array).description = description
            self._held.append(array)
        elif kind == "handle" and exchange.make_handle is not None:
            _, name, is_callable, text = _row(description, 4)
            if not isinstance(name, str) or not isinstance(text, str) or len(name) + len(text) > 3 * _MAX_TEXT:
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
        except (TypeError, ValueError):
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

    def _change_tensor(self, obj: torch.Tensor, known: _Known, description: list[Any]) -> None:
        exchange = self._exchange
        tensor, claims = build_tensor(description, exchange.blocks, exchange.caps.data_bytes)
        was = read_claims(known.description[8])
        lazy_flags_differ = (was.is_conj, was.is_neg) != (claims.is_conj, claims.is_neg)
        if known.description[1:8] != description[1:8] or lazy_flags_differ:
            self._remember(obj, known)
            try:
                obj.data = tensor
            except (RuntimeError, TypeError) as error:
                raise ProtocolFault(f"a tensor cannot change like that: {error}") from None
        if exchange.asks:
            obj.__dict__["_claims"] = claims
        elif obj.is_leaf and obj.requires_grad != claims.requires_grad:
            obj.requires_grad_(claims.requires_grad)

    def _remember(self, obj: torch.Tensor, known: _Known) -> None:
        """Keep a tensor of the asking end as it is, before it is changed: a reference is given the original."""
        if self._exchange.asks and known.before is None:
            before = obj.detach().requires_grad_(obj.requires_grad)
            before.grad = obj.grad if obj.is_leaf else None
            known.before = (before, known.description[5])

    def _change_array(self, obj: np.ndarray, number: int, known: _Known, description: list[Any]) -> None:
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
        return _constant(item)


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


def too_much(containers: dict[int, list[Any]], caps: Caps) -> str | None:
    """Why some containers cannot be one message: one of them holds itself, is deep or huge. None if they can.

    Args:
        containers: a description for each number; a part ["known", number] may be another of them.
        caps: what a message may hold.
    """
    weights: dict[int, tuple[int, int]] = {}

    def weigh(number: int, level: int) -> tuple[int, int]:
        """Depth and number of leaves of a container, every shared part counted where it occurs."""
        if number not in weights:
            if level > caps.depth:
                raise OverflowError("containers are nested too deeply")
            kind, items = containers[number]
            if kind in _HASHED and len(items) > _ENTRIES:
                raise OverflowError("a dict or set has too many entries")
            parts = items if kind != "dict" else [part for item in items if isinstance(item, list) for part in item]
            depth, leaves = 0, 1 + len(parts)
            for part in parts:
                if isinstance(part, list) and part[:1] == ["known"] and len(part) == 2 and isinstance(part[1], int):
                    more, wide = weigh(part[1], level + 1) if part[1] in containers else (0, 1)
                    depth, leaves = max(depth, more), leaves + wide - 1
            if depth >= caps.depth or leaves > caps.expanded:
                raise OverflowError("containers are nested too deeply or too widely")
            weights[number] = depth + 1, leaves
        return weights[number]

    try:
        total = sum(weigh(number, 1)[1] for number, (kind, _) in containers.items() if kind in _HASHED)
        for number in containers:
            weigh(number, 1)
    except OverflowError as error:
        return str(error)
    return "dicts and sets have too many parts" if total > 4 * caps.expanded else None


def _has_size(extent: Extent) -> bool:
    return extent.size > 0


def _extent(leaf: Leaf) -> Extent:
    return array_extent(leaf) if isinstance(leaf, np.ndarray) else storage_extent(leaf.untyped_storage())


def _with_claims(tensor: torch.Tensor, claims: Claims, *, ours: bool) -> torch.Tensor:
    """A tensor as this end holds it: detached with claims beside it, or (in the worker) as the check made it."""
    if ours:
        tensor.__dict__["_claims"] = claims
    elif claims.requires_grad:
        tensor.requires_grad_()
    return tensor


def _same_items(one: Any, other: Any) -> bool:
    if type(one) is not type(other) or len(one) != len(other):
        return False
    if isinstance(one, dict):
        return all(a is b and one[a] is other[b] for a, b in zip(one, other, strict=True))
    if isinstance(one, set):
        return bool(one == other)
    return all(a is b for a, b in zip(one, other, strict=True))


def _plain_constant(obj: Any) -> list[Any] | None:
    """What is neither a number nor a container, but has a name or a few parts."""
    if isinstance(obj, np.generic):
        return ["scalar", obj.dtype.str, obj.tobytes().hex()] if obj.dtype.kind in "biufc" else None
    if isinstance(obj, complex):
        return ["complex", obj.real, obj.imag]
    if isinstance(obj, (bytes, bytearray)):
        return ["bytes", bytes(obj).decode("latin-1")]
    if isinstance(obj, torch.dtype):
        return ["dtype", NAMES[obj]] if obj in NAMES else None
    if isinstance(obj, torch.device):
        return ["device", str(obj)] if _DEVICE.fullmatch(str(obj)) else None
    if isinstance(obj, np.dtype):
        return ["array_dtype", obj.str] if obj.kind in "biufc" else None
    if obj is Ellipsis:
        return ["ellipsis"]
    if isinstance(obj, (torch.layout, torch.memory_format)) and str(obj) in _TORCH_CONSTANTS:
        return ["torch", str(obj)]
    return None


def _plain_text(text: str) -> Any:
    """A str as it is, unless JSON would join two of its surrogates into one character."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        return ["text", text.encode("utf-8", "surrogatepass").decode("latin-1")]
    return text


def _constant(item: list[Any]) -> Any:  # noqa: C901  one table, a row for each kind
    """The inverse of `_plain_constant`."""
    try:
        match item:
            case ["int", str(digits)] if len(digits) <= _MAX_INT_DIGITS + 3:
                return int(digits, 16)
            case ["text", str(text)]:
                return text.encode("latin-1").decode("utf-8", "surrogatepass")
            case ["scalar", name, str(digits)] if len(digits) <= 64:
                dtype = array_dtype(name)
                raw = bytes.fromhex(digits)
                if len(raw) == dtype.itemsize:
                    return np.frombuffer(raw, dtype)[0]
            case ["complex", float(real), float(imag)]:
                return complex(real, imag)
            case ["bytes", str(text)]:
                return text.encode("latin-1")
            case ["dtype", str(name)]:
                return DTYPES[name]
            case ["device", str(name)] if _DEVICE.fullmatch(name):
                return torch.device(name)
            case ["array_dtype", name]:
                return array_dtype(name)
            case ["ellipsis"]:
                return Ellipsis
            case ["torch", str(name)]:
                return _TORCH_CONSTANTS[name]
    except (ValueError, TypeError, KeyError, RuntimeError):
        pass
    raise ProtocolFault("a value of an unknown form")


def _rows(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ProtocolFault("a list is missing")
    return value


def _row(value: Any, length: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != length:
        raise ProtocolFault("a row is of the wrong length")
    return value
