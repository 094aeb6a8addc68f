"""Lists, dicts and the like that both ends know, and how they were when the two last agreed."""

from __future__ import annotations

import operator
import sys
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from grader.wire.rows import ContainerRow

_OWN_REFERENCES = 2
"""To a container that only the table holds: its own, and that of the question."""


@dataclass(slots=True)
class KnownContainer:
    """A container that has a number, and how it was when both ends last agreed."""

    obj: Any
    row: ContainerRow
    _items: tuple[Any, ...] = ()

    def agree(self, row: ContainerRow) -> None:
        """Both ends know that it is like this now."""
        self.row, self._items = row, items_of(self.obj)

    def is_same(self) -> bool:
        """Whether it has the very items that it had: then no row need be written to compare it."""
        items = self.obj if type(self.obj) is list else items_of(self.obj)
        return len(items) == len(self._items) and all(map(operator.is_, items, self._items))

    def refer(self) -> Any:
        """The container."""
        return self.obj

    def is_dropped(self) -> bool:
        """Whether nobody else holds it."""
        return sys.getrefcount(self.obj) <= _OWN_REFERENCES


def items_of(obj: Any) -> tuple[Any, ...]:
    """The items of a list or set, the keys and values of a dict; nothing of what cannot change."""
    if type(obj) is OrderedDict:  # it keeps the order beside the dict that it is
        return (*obj.keys(), *obj.values())
    if isinstance(obj, dict):
        return (*dict.keys(obj), *dict.values(obj))
    if isinstance(obj, (list, set)):
        return tuple(list.__iter__(obj) if isinstance(obj, list) else set.__iter__(obj))
    return ()
