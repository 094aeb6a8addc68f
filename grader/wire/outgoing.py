"""One message being written."""

from __future__ import annotations

import bisect
import itertools
import json
import math
from typing import Any

import numpy as np
import torch

from grader.wire.blocks import Block, Extent, array_extent, merge, storage_extent
from grader.wire.describe import MAX_DIMS, describe_array, describe_tensor, odd_array, odd_tensor
from grader.wire.devices import plain
from grader.wire.exchange import Exchange, Known, Leaf, Remote
from grader.wire.frames import Unsupported, check_tree
from grader.wire.nesting import CONTAINERS, too_much
from grader.wire.plain import MAX_INT_DIGITS, MAX_TEXT, plain_constant, plain_text

_INLINE_INT = 1 << 63
_LARGE = 1 << 16
_ORDERED = {"list": list, "size": torch.Size, "slice": slice, "range": range, "tuple": tuple}


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

    def _register(self, obj: Any, *, container: bool = False) -> tuple[int, Known]:
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
            return plain_text(obj)
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
        plain = plain_constant(obj)
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
        if obj.bit_length() > 4 * MAX_INT_DIGITS:
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
        described = ["handle", type(obj).__name__[:MAX_TEXT], callable(obj), reason or ""]
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
        containers.update(row for row in told["changed"] if row[1][0] in CONTAINERS)
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

    def _describe(self, leaf: Leaf, block: Block | None, known: Known) -> list[Any]:
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


def _has_size(extent: Extent) -> bool:
    return extent.size > 0


def _extent(leaf: Leaf) -> Extent:
    return array_extent(leaf) if isinstance(leaf, np.ndarray) else storage_extent(plain(leaf).untyped_storage())
