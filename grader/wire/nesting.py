"""How deep containers of a message are nested, and how large they are: before any of them is built, or sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.wire.bounds import Caps, expect
from grader.wire.memory import is_index

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
    found = [item[1] for item in row[1::step] if type(item) is list and len(item) == 2 and item[0] == "ref"]
    expect(all(is_index(number, count) for number in found), "a reference to an unknown object")
    return found
