"""One message being written."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import torch

from grader.wire.blocks import Block
from grader.wire.bounds import Unsupported
from grader.wire.checked import MAX_DIMS
from grader.wire.claimed import claims_of, note_claims
from grader.wire.describe import describe_array, describe_tensor, look_of, odd_array, odd_tensor
from grader.wire.devices import plain
from grader.wire.exchange import Exchange, Known, Leaf
from grader.wire.nesting import too_much
from grader.wire.placing import place
from grader.wire.rows import NO_BLOCK, BlockRow, ContainerRow, LeafRow, ObjectRow, TensorRow, Told
from grader.wire.tree import Plain, check_tree
from grader.wire.values import Values

_LARGE = 1 << 16


class Outgoing:
    """One message being written.

    Args:
        exchange: this end's table.
        originals: another exchange whose other end may have changed the values: send them as they were before.
    """

    def __init__(self, exchange: Exchange, originals: Exchange | None = None) -> None:
        self._exchange = exchange
        self._originals = originals
        self._values = Values(exchange, originals)
        self._items: list[Plain] = []

    def value(self, obj: object) -> Plain:
        """An object as a value of the tree.

        Raises:
            Unsupported: it cannot be handed over. Nothing of this message is known then.
        """
        try:
            item = self._values.value(obj)
        except Unsupported:
            self._values.withdraw()
            raise
        self._items.append(item)
        return item

    def finish(self) -> tuple[dict[str, Plain], list[bytes]]:
        """The part of the message that tells of objects and memory, as it is sent, and the memory.

        Call it once, after the last `value`.

        Raises:
            Unsupported: it is more than a message may hold. Nothing of this message is known then.
        """
        told, data = self.tell()
        return told.plain(asks=self._exchange.asks), data

    def release(self) -> None:
        """Let go of what had to live until the reply was read."""
        self._values.pinned.clear()
        self._values.leaves.clear()

    def tell(self) -> tuple[Told, list[bytes]]:
        """The same as `finish`, with the rows as records."""
        try:
            return self._tell()
        except Unsupported:
            self._values.withdraw()
            raise

    def _tell(self) -> tuple[Told, list[bytes]]:
        exchange = self._exchange
        changed = self._changed_containers()
        if exchange.asks:
            exchange.drop_containers({number for number, _ in changed} | self._values.made)
        gone = (number for number, known in exchange.known.items() if known.refer() is None)
        forgotten = [*exchange.dropped, *(number for number in gone if number not in exchange.graphs)]

        # Every leaf that both ends know is looked at, not the arguments alone: an alias that student code kept from an
        # earlier call may have been written through.
        leaves, as_told = self._all_leaves()
        self._values.pinned.extend(leaves.values())
        placed = place(exchange, leaves, as_told)
        rows: dict[int, LeafRow] = {}
        for number, leaf in leaves.items():
            known, block = exchange.known[number], placed[number]
            row = known.row if number in as_told else None
            if row is None or row.block != (NO_BLOCK if block is None else block.number):
                row = self._describe(leaf, block, known)
            rows[number] = row
        new = [ObjectRow(number, rows[number]) for number in self._values.leaves] + self._values.new
        for number, row in rows.items():
            if number not in self._values.leaves and row != exchange.known[number].row:
                changed.append(ObjectRow(number, row))

        # Of memory, what differs from when both ends last agreed, block by block.
        used = {block.number for block in placed.values() if block}
        blocks = self._changed_blocks(used)
        starts = itertools.accumulate((block.size for block, _ in blocks), initial=0)
        parts = [
            BlockRow(block.number, block.size, start, block.writable)
            for (block, _), start in zip(blocks, starts, strict=False)
        ]
        data = [current for _, current in blocks]
        told = Told(new, changed, parts, forgotten, exchange.fresh)
        self._check_size(told, data)

        # Nothing is refused from here on, so both ends agree.
        self._agree(rows, used, forgotten, changed)
        for block, current in blocks:
            block.last = current
            block.first = current if exchange.asks else None
        return told, data

    def _agree(self, rows: dict[int, LeafRow], used: set[int], forgotten: list[int], changed: list[ObjectRow]) -> None:
        """The message is as good as sent: the other end will know what it tells."""
        exchange = self._exchange
        exchange.fresh = False
        exchange.forget(forgotten)
        exchange.dropped = []
        for number, row in rows.items():
            known = exchange.known[number]
            was = known.row
            if row is was:
                continue
            moved = isinstance(was, TensorRow) and isinstance(row, TensorRow) and was.not_claimed() != row.not_claimed()
            if moved:  # or changed by this end
                known.before = None
            known.row = row
            tensor = known.refer()
            if isinstance(tensor, torch.Tensor) and (look := look_of(tensor)) is not None:
                known.look = row, look
            if row != was and isinstance(row, TensorRow) and claims_of(tensor) is not None:
                note_claims(tensor, row.claims)  # this end has changed it: what was claimed holds no more
        for number, container in changed:
            if isinstance(container, ContainerRow) and number in exchange.containers:
                exchange.containers[number].agree(container)
        # A block that holds an original is retired when nothing else lies in it: the other end drops its own, and here
        # it is kept with its first bytes for as long as a reference may be given them.
        kept = {known.before.block for known in exchange.known.values() if known.before} - used
        blocks = exchange.retired | exchange.blocks
        exchange.retired = {number: block for number, block in blocks.items() if number in kept}
        exchange.blocks = {number: block for number, block in exchange.blocks.items() if number in used}
        self._values.pinned.extend(known.refer() for known in exchange.known.values())

    def _check_size(self, told: Told, data: list[bytes]) -> None:
        """Refuse what the other end would refuse: there it would be a fault, and a student would be blamed for it."""
        caps = self._exchange.caps
        if len(told.new) > caps.objects:
            raise Unsupported(f"{len(told.new)} separate objects are too many to hand over")
        if (size := sum(map(len, data))) > caps.data_bytes:
            raise Unsupported(f"the values are too large to hand over ({size / 2**20:.0f} MB)")
        containers = {number: row for number, row in (*told.new, *told.changed) if isinstance(row, ContainerRow)}
        known, changes = self._exchange.containers, bool(told.changed)
        if containers and (reason := too_much(containers, known, caps, changes=changes)) is not None:
            raise Unsupported(f"{reason} to hand over")
        # Written a second time to be measured, unless it is small, as in most calls: a row has some 200 characters.
        if self._values.size + 200 * (len(told.new) + len(told.changed)) > _LARGE:
            tree = [self._items, told.plain(asks=self._exchange.asks)]
            check_tree(json.dumps(tree, separators=(",", ":")).encode("ascii"), caps)

    def _changed_containers(self) -> list[ObjectRow]:
        changed = []
        for number, known in list(self._exchange.containers.items()):
            obj = known.refer()
            mutable = isinstance(obj, (list, dict, set)) and number not in self._values.made
            if mutable and not known.is_same():
                row = self._values.described(obj)
                if json.dumps(row) != json.dumps(known.row):  # as text, for 1 == 1.0 == True
                    changed.append(ObjectRow(number, row))
        return changed

    def _all_leaves(self) -> tuple[dict[int, Leaf], set[int]]:
        """Every live tensor and array that both ends know, the gradients among them; which of them are as was told."""
        leaves: dict[int, Leaf] = {}
        as_told = set()
        for number, known in list(self._exchange.known.items()):
            obj = known.refer()
            if known.is_as_told(obj):
                leaves[number] = obj
                as_told.add(number)
            elif isinstance(obj, torch.Tensor) and odd_tensor(obj) is None:
                leaves[number] = obj
                if obj.is_leaf and obj.grad is not None and odd_tensor(obj.grad) is None:
                    self._values.value(obj.grad)
            elif isinstance(obj, np.ndarray) and odd_array(obj) is None:
                leaves[number] = obj
        return leaves | self._values.leaves, as_told

    def _describe(self, leaf: Leaf, block: Block | None, known: Known) -> LeafRow:
        caps = self._exchange.caps
        if isinstance(leaf, torch.Tensor):
            memory = plain(leaf).untyped_storage().nbytes()
        else:
            memory = 0 if block is None else block.size
        if leaf.ndim > MAX_DIMS or math.prod(leaf.shape) * leaf.itemsize > caps.most_bytes(memory):
            what = "a tensor" if isinstance(leaf, torch.Tensor) else "an array"
            raise Unsupported(f"{what} of shape {tuple(leaf.shape[:MAX_DIMS])} is too large to hand over")
        if isinstance(leaf, np.ndarray):
            return describe_array(leaf, block)
        # None as well for a gradient that cannot be handed over, such as a sparse one: it has no number.
        grad = self._exchange.number_of(leaf.grad) if leaf.is_leaf and leaf.grad is not None else None
        return describe_tensor(leaf, block, known.base_version, grad)

    def _changed_blocks(self, used: set[int]) -> list[tuple[Block, bytes]]:
        changed = []
        for block in self._exchange.blocks.values():
            if block.number not in used:
                continue
            current = block.read()
            # A reference is given what student code was given, though it has been written to since.
            if self._originals is not None:
                current = self._originals.original(block.start, block.size) or current
            if current != block.last:
                changed.append((block, current))
        return changed
