"""Containers of a message: weighed before any of them is built, and built."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import torch

from grader.wire.bounds import Caps, ProtocolFault
from grader.wire.checked import parts, whole
from grader.wire.held import KnownContainer
from grader.wire.named import Key, build, kind_of
from grader.wire.nesting import too_much
from grader.wire.rows import DICTS, MUTABLE, ContainerRow, ObjectRow
from grader.wire.tree import Plain

_SIZE = 1 << 63
_COLLISIONS = 100


def weigh(known: dict[int, KnownContainer], told: Iterable[ObjectRow], caps: Caps) -> None:
    """Refuse what would hold itself, be deep, or be huge once every shared part is counted where it occurs.

    What is weighed is what will be built: no container is told twice, and of ours only those that can change.

    Raises:
        ProtocolFault: something is refused.
    """
    rows: dict[int, ContainerRow] = {}
    for number, row in told:
        if isinstance(row, ContainerRow):
            # Told a second time, as something small, it would hide from the scales what is built of the first.
            ours = known.get(number)
            if number in rows or (ours is not None and (ours.row.kind != row.kind or row.kind not in MUTABLE)):
                raise ProtocolFault("a container is told twice, or cannot change like that")
            rows[number] = row
    if rows and (reason := too_much(rows, known, caps, changes=not known.keys().isdisjoint(rows))) is not None:
        raise ProtocolFault(reason)


def build_container(row: ContainerRow, value: Callable[[Plain], Any], named: dict[Key, type] | None = None) -> Any:
    """The container that a row tells of.

    Args:
        row: tells of it.
        value: gives the objects that its items stand for.
        named: kinds of named tuples that are known.

    Raises:
        ProtocolFault: there is no such container.
    """
    try:
        if row.kind == "named":
            return _named(row.items, value, {} if named is None else named)
        return _built(row.kind, row.items, value)
    except (TypeError, ValueError, RuntimeError):  # the last: a tensor was compared with a key of the same hash
        raise ProtocolFault("a key or a member of a set is not hashable, or a part is not possible") from None


def _built(kind: str, items: list[Plain], value: Callable[[Plain], Any]) -> Any:
    match kind:
        case "list":
            return [value(item) for item in items]
        case "tuple":
            return tuple([value(item) for item in items])
        case "size":
            return torch.Size([whole(item, -_SIZE, _SIZE - 1) for item in items])
        case "slice" if len(items) == 3:
            return slice(*(value(item) for item in items))
        case "range" if len(items) == 3:
            return range(*(value(item) for item in items))
        case "set":
            return set(_keys(items, value))
        case "frozenset":
            return frozenset(_keys(items, value))
        case "dict" | "counter" | "ordered":
            pairs = [parts(item, 2) for item in items]
            keys = _keys([key for key, _ in pairs], value)
            found = dict(zip(keys, (value(item) for _, item in pairs), strict=True))
            return next(made for made, word in DICTS.items() if word == kind)(found)
    raise ProtocolFault("an object of an unknown kind")


def _named(items: list[Plain], value: Callable[[Plain], Any], known: dict[Key, type]) -> Any:
    match items:
        case [str(name), list(fields), *rest] if len(fields) == len(rest):
            kind = kind_of(name, tuple(str(field) for field in fields), known)
            return build(kind, [value(item) for item in rest])
    raise ProtocolFault("a named tuple is described wrongly")


def _keys(items: list[Plain], value: Callable[[Plain], Any]) -> list[Any]:
    """Keys or members, among which few have the same hash: with many, a dict or set would take hours to build."""
    # Each key is compared with those of the same hash, so that n of them take n² comparisons. A worker can make such
    # keys at will: the hash of an int is the int itself, modulo a prime.
    keys = [value(item) for item in items]
    if keys and Counter(map(hash, keys)).most_common(1)[0][1] > _COLLISIONS:
        raise ProtocolFault("too many keys or members of a set have the same hash")
    return keys
