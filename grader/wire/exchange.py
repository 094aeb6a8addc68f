"""Objects by number and memory by block: what two processes have in common during one check.

Both ends hold an `Exchange`. The asking end (the check process) numbers with even numbers and holds its objects weakly:
when a check drops a tensor, the worker is told to forget it. The answering end (the worker) numbers with odd ones and
holds strongly, so that what a check still has is still there. Containers are known for one call.

Every message carries the blocks whose bytes changed since both ends last agreed, new objects, and known objects whose
description changed. So the same object in gives the same object out, a changed argument is changed at the asking end
(by copy), and what shares memory at one end shares it at the other.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from grader.wire.blocks import Block
from grader.wire.describe import NAMES, Claims
from grader.wire.frames import Caps

Leaf = torch.Tensor | np.ndarray

_BLOCK_OF: dict[str, Callable[[list[Any]], int]] = {"tensor": lambda row: row[5], "array": lambda row: row[4]}
"""Where a description names the block of its object."""


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
class Known:
    """What an end knows of one object: how to reach it, and its description when both ends last agreed."""

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
        self.known: dict[int, Known] = {}
        self.numbers: dict[int, int] = {}
        self.blocks: dict[int, Block] = {}
        self.retired: dict[int, Block] = {}
        self.containers: dict[int, Known] = {}
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

    def register(self, number: int, obj: Any, *, container: bool = False) -> Known:
        """Give an object its number."""
        if container or not self.asks:
            known = Known(lambda: obj)
        else:
            known = Known(weakref.ref(obj))
        (self.containers if container else self.known)[number] = known
        self.numbers[id(obj)] = number
        return known

    def forget(self, numbers: Iterable[int]) -> None:
        """Drop objects."""
        for number in numbers:
            self.known.pop(number, None)
        live = set(self.known) | set(self.containers)
        self.numbers = {identity: number for identity, number in self.numbers.items() if number in live}

    def drop_blocks(self) -> None:
        """Drop blocks in which nothing known lies: the other end has dropped them, too."""
        used = {
            _BLOCK_OF[known.description[0]](known.description) for known in self.known.values() if known.description
        }
        self.blocks = {number: block for number, block in self.blocks.items() if number in used}

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


def _same_items(one: Any, other: Any) -> bool:
    if type(one) is not type(other) or len(one) != len(other):
        return False
    if isinstance(one, dict):
        return all(a is b and one[a] is other[b] for a, b in zip(one, other, strict=True))
    if isinstance(one, set):
        return bool(one == other)
    return all(a is b for a, b in zip(one, other, strict=True))
