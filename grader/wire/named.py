"""Named tuples: handed over with their names, so that `point.x` means the same at both ends."""

from __future__ import annotations

import functools
import keyword
from collections import namedtuple
from typing import Any

from grader.wire.bounds import ProtocolFault

_MOST_FIELDS = 100
_MOST_NAME = 100
_MOST_KINDS = 100

Key = tuple[str, tuple[str, ...]]


def key_of(kind: type) -> Key | None:
    """Name and fields of a kind of named tuples, those of PyTorch's results as well; None for any other type."""
    if kind is tuple or not issubclass(kind, tuple):
        return None
    fields = getattr(kind, "_fields", None) or getattr(kind, "__match_args__", None)
    key = (kind.__name__, fields) if isinstance(fields, tuple) else None
    return key if key is not None and _is_possible(*key) else None


def kind_of(name: str, fields: tuple[str, ...], known: dict[Key, type]) -> type:
    """The kind of such tuples: the one that is known here, or one of ours.

    Args:
        name: of the class.
        fields: names of the items.
        known: kinds by name and fields; few, as making one takes time.

    Raises:
        ProtocolFault: there can be none, or there are too many.
    """
    if (name, fields) not in known:
        if not _is_possible(name, fields) or len(known) >= _MOST_KINDS:
            raise ProtocolFault("a named tuple is not possible")
        known[name, fields] = _made(name, fields)
    return known[name, fields]


def build(kind: type, items: list[Any]) -> Any:
    """A named tuple with these items, without a constructor of anybody's."""
    return tuple.__new__(kind, items) if hasattr(kind, "_fields") else kind(items)


@functools.lru_cache(maxsize=1000)  # one class for both sides: the reference's points are compared with the student's
def _made(name: str, fields: tuple[str, ...]) -> type:
    return namedtuple(name, fields)


def _is_possible(name: str, fields: tuple[Any, ...]) -> bool:
    names = (name, *fields)
    if len(fields) > _MOST_FIELDS or len(set(fields)) != len(fields):
        return False
    if not all(isinstance(each, str) and len(each) <= _MOST_NAME and each.isidentifier() for each in names):
        return False
    return not any(keyword.iskeyword(each) for each in names) and not any(each.startswith("_") for each in fields)
