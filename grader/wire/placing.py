"""Which block each tensor and array of a message lies in."""

from __future__ import annotations

import bisect

import numpy as np

from grader.wire.blocks import Block, Extent, array_extent, merge, storage_extent
from grader.wire.devices import plain
from grader.wire.exchange import Exchange, Leaf


def place(exchange: Exchange, leaves: dict[int, Leaf]) -> dict[int, Block | None]:
    """Find or make the block of each leaf: the same one for all that overlap, now or in an earlier message.

    Blocks whose memory is gone are dropped; those that are made are added to the exchange.
    """
    exchange.blocks = {number: block for number, block in exchange.blocks.items() if block.hold()}
    blocks = sorted(exchange.blocks.values(), key=lambda block: block.start)
    extents = {number: _extent(leaf) for number, leaf in leaves.items()}
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
    return {number: homes[id(groups[id(extent)])] if extent.size else None for number, extent in extents.items()}


def _holding(blocks: list[Block], start: int, size: int) -> Block | None:
    """The block that holds a range; blocks are sorted by where they begin, and do not overlap."""
    place = bisect.bisect_right(blocks, start, key=lambda block: block.start)
    block = blocks[place - 1] if place else None
    return block if block is not None and block.holds(start, size) else None


def _extent(leaf: Leaf) -> Extent:
    return array_extent(leaf) if isinstance(leaf, np.ndarray) else storage_extent(plain(leaf).untyped_storage())
