"""What one message may hold, and the errors of everything beyond. Standard library only.

WireError
├── ProtocolError    the other process broke a rule; `TooMuch`: of how much it may send
├── ChannelClosed    the other process is gone
└── Unsupported      a value of ours cannot be sent
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_OF_A_TREE = 16
"""So many times its text a tree takes as objects of Python's."""


class WireError(Exception):
    """A message could not be sent or received."""


class ProtocolError(WireError):
    """The other process sent what this protocol does not allow."""


class TooMuch(ProtocolError):
    """The other process sent more than all its messages together may hold."""


class ChannelClosed(WireError):
    """The other process is gone."""


class Unsupported(WireError, TypeError):
    """A value of ours cannot be sent; the message says why."""


def expect(condition: object, text: str) -> None:
    """Refuse a message that breaks a rule.

    Raises:
        ProtocolError: the condition does not hold.
    """
    if not condition:
        raise ProtocolError(text)


@dataclass
class Budget:
    """What several messages may hold together. Like `Caps`, it is taken from before any memory is allocated."""

    left: int

    def take(self, tree_bytes: int, data_bytes: int) -> None:
        """Take one message from it.

        Raises:
            TooMuch: so much is not left.
        """
        self.left -= _OF_A_TREE * tree_bytes + data_bytes
        if self.left < 0:
            raise TooMuch("more than all messages together may hold")


@dataclass(frozen=True)
class Caps:
    """What one message may hold at most. Checked before any memory is allocated."""

    tree_bytes: int = 16 << 20
    tree_nodes: int = 1_000_000
    data_bytes: int = 1 << 30
    objects: int = 100_000
    depth: int = 64
    unfolded: int = 2_000_000
    """Items of a value if each shared container were counted wherever it occurs."""
    expanded_bytes: int = 64 << 20
    """Of one tensor or array whose elements share memory, for instance by strides of 0."""

    def most_bytes(self, memory: int) -> int:
        """Bytes that the elements of one tensor or array may come to: a comparison or a copy makes all of them.

        Args:
            memory: bytes of the memory that it lies in, which really arrived.
        """
        return min(self.data_bytes, max(memory, self.expanded_bytes))


def is_index(value: object, end: int) -> bool:
    """Whether something from another process is an int from 0 up to, but without, `end`."""
    return type(value) is int and 0 <= value < end


KEYED = {"dict": 2, "set": 1, "frozenset": 1}
"""Containers that hash their items, or every second one."""

_LEAVES = "tensor", "array"
_TOO_LARGE = "a value is too large or too deep"


def weighed(rows: Sequence[list[Any]], changed: Sequence[int], caps: Caps) -> list[int]:
    """The numbers of these rows and of all in them, inner ones first.

    Raises:
        ProtocolError: there is a cycle, deep nesting, or something that is huge once unfolded.
    """
    order: list[int] = []
    hashed = 0
    depth, size = [0] * len(rows), [0] * len(rows)  # a size of -1: its items are being visited

    def visit(number: int, above: int) -> None:
        nonlocal hashed
        expect(size[number] >= 0, "a value contains itself")
        if size[number]:
            return
        expect(above < caps.depth, _TOO_LARGE)  # before Python's own limit
        size[number] = -1
        row = rows[number]
        inner = _references(row, len(rows))
        for child in inner:
            visit(child, above + 1)
        size[number] = len(row) + sum(size[child] for child in inner)
        depth[number] = 1 + max((depth[child] for child in inner), default=0)
        if row[0] in KEYED:  # whose hash goes over all that a key holds, each time
            hashed += sum(size[child] for child in _references(row, len(rows), KEYED[row[0]]))
        expect(max(size[number], hashed) <= caps.unfolded and depth[number] <= caps.depth, _TOO_LARGE)
        order.append(number)

    for first in changed:
        visit(first, 0)
    return order


def _references(row: list[Any], count: int, step: int = 1) -> list[int]:
    """The numbers of a container's items that are rows; with a step of 2, of a dict's keys."""
    if row[0] in _LEAVES:
        return []
    numbers = [item[1] for item in row[1::step] if type(item) is list and len(item) == 2 and item[0] == "ref"]
    expect(all(is_index(number, count) for number in numbers), "a reference to an unknown object")
    return numbers
