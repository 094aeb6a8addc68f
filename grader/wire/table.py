"""What both processes of one call know by number, and how blocks lie in a message. Standard library only.

The numbers of objects and blocks hold for one call only: the request fills a table in both processes, and the reply
adds to it and says what changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

ALIGNMENT = 64
"""Of blocks in a message, in bytes, as PyTorch aligns its own memory."""

LIMIT = 1 << 60
"""No count or offset is larger, so that no sum of a few of them leaves 64 bits."""


@dataclass
class ObjectTable:
    """The objects and memory that both processes of one call know by number.

    Attributes:
        objects: lists, dicts, tensors and the like.
        rows: the last row that was sent of each object.
        blocks: memory (`memory.MemoryBlock`); a process without PyTorch has none.
        storages: the storages of tensors, by block, start and size.
        versions: the count of in-place writes of each tensor, at the time when it arrived.
    """

    objects: list[Any] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)
    blocks: list[Any] = field(default_factory=list)
    storages: dict[tuple[int | None, int, int], Any] = field(default_factory=dict)
    versions: dict[int, int] = field(default_factory=dict)


def nested_values(value: Any) -> Iterator[Any]:
    """Yield a value and all values in it, at any depth.

    `[1, {"a": (2,)}]` yields the list, 1, the dict, "a", the tuple and 2.
    """
    yield value
    items = [*value, *value.values()] if isinstance(value, dict) else value
    if isinstance(items, (list, tuple, set, frozenset)):
        for item in items:
            yield from nested_values(item)


def block_offsets(sizes: Sequence[int]) -> list[int]:
    """Return the offset of each block in the data of a message, and last the total size.

    Sizes of 100 and 64 bytes return `[0, 128, 192]`, as blocks begin at multiples of 64.

    Args:
        sizes: the sizes of the blocks, in bytes.
    """
    starts, end = [], 0
    for size in sizes:
        starts.append(end)
        end += -(-size // ALIGNMENT) * ALIGNMENT
    return [*starts, end]


def padded_blocks(parts: Sequence[memoryview]) -> list[memoryview | bytes]:
    """Return the blocks of a message, each with zeros up to a multiple of 64 bytes.

    A block of 100 bytes is followed by one of 28 zeros.
    """
    blocks: list[memoryview | bytes] = []
    for part in parts:
        blocks.append(part)
        if gap := -len(part) % ALIGNMENT:
            blocks.append(bytes(gap))
    return blocks
