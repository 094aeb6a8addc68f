"""Which block each tensor and array of a message lies in."""

from __future__ import annotations

import bisect
from collections.abc import Iterable

import numpy as np

from grader.wire.blocks import Block, Extent, array_extent, merge, storage_extent
from grader.wire.devices import plain
from grader.wire.exchange import Exchange, Leaf


def place(exchange: Exchange, leaves: dict[int, Leaf], as_told: Iterable[int] = ()) -> dict[int, Block | None]:
    """Find or make the block of each leaf: the same one for all that overlap, now or in an earlier message.

    Blocks whose memory is gone are dropped; those that are made are added to the exchange.

    Args:
        exchange: the table.
        leaves: by number.
        as_told: numbers of those that lie where both ends know that they do.
    """
    exchange.blocks = {number: block for number, block in exchange.blocks.items() if block.hold()}
    blocks = sorted(exchange.blocks.values(), key=lambda block: block.start)
    rows = {number: row for number in as_told if (row := exchange.known[number].row) is not None}
    settled = {number: exchange.blocks.get(row.block) for number, row in rows.items()}
    extents = {number: _extent(leaf) for number, leaf in leaves.items() if settled.get(number) is None}
    # What links two blocks, or a block with what lies beside it, joins what lies in them, too.
    if any(_crosses(blocks, extent) for extent in extents.values()):
        settled, extents = {}, {number: _extent(leaf) for number, leaf in leaves.items()}
    sized = [extent for extent in extents.values() if extent.size]  # what has no bytes has nothing to share
    groups = {id(extent): group for group in merge(sized) for extent in group}
    homes: dict[int, Block] = {}
    for extent in sized:  # in the order of the leaves: the same numbers each time
        group = groups[id(extent)]
        if id(group) not in homes:
            start, end = group[0].start, max(extent.end for extent in group)
            # A known block that holds all of them stays theirs, so that the other end keeps its own memory, too. One
            # that is too small is left, and dropped once nothing lies in it.
            block = _holding(blocks, start, end - start) or Block.of(exchange.new_number(), group)
            homes[id(group)] = exchange.blocks[block.number] = block
    placed = {number: homes[id(groups[id(extent)])] if extent.size else None for number, extent in extents.items()}
    return {number: settled.get(number) or placed.get(number) for number in leaves}


def _crosses(blocks: list[Block], extent: Extent) -> bool:
    """Whether a range overlaps a block that does not hold it; blocks are sorted by where they begin."""
    place = bisect.bisect_right(blocks, extent.start, key=lambda block: block.start)
    before = blocks[place - 1] if place else None
    if before is not None and before.holds(extent.start, extent.size):
        return False
    overlaps = before is not None and extent.start < before.start + before.size
    return extent.size > 0 and (overlaps or (place < len(blocks) and blocks[place].start < extent.end))


def _holding(blocks: list[Block], start: int, size: int) -> Block | None:
    """The block that holds a range; blocks are sorted by where they begin, and do not overlap."""
    place = bisect.bisect_right(blocks, start, key=lambda block: block.start)
    block = blocks[place - 1] if place else None
    return block if block is not None and block.holds(start, size) else None


def _extent(leaf: Leaf) -> Extent:
    return array_extent(leaf) if isinstance(leaf, np.ndarray) else storage_extent(plain(leaf).untyped_storage())
