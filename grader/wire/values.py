"""Objects as values of the tree of one message, and what the message must tell of them."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any

import numpy as np
import torch

from grader.wire.bounds import Unsupported
from grader.wire.claimed import own_version
from grader.wire.describe import odd_array, odd_tensor
from grader.wire.exchange import Exchange, Leaf
from grader.wire.handles import Remote, describe_handle, origin_of
from grader.wire.named import key_of
from grader.wire.plain import MAX_INT_DIGITS, plain_constant, plain_text
from grader.wire.public import public_name
from grader.wire.rows import DICTS, ContainerRow, ObjectRow
from grader.wire.tree import Plain

_INLINE_INT = 1 << 63
_ORDERED = {"list": list, "size": torch.Size, "slice": slice, "range": range, "tuple": tuple}


class Values:
    """The values of one message.

    Args:
        exchange: this end's table, into which new objects are written.
        originals: another exchange whose other end may have changed the objects: take them as they were before.

    Attributes:
        new: containers and handles that the other end does not know.
        leaves: tensors and arrays that it does not know, by number.
        pinned: what must live until the reply was read.
        size: roughly the characters of all values.
        made: the numbers of all that this message makes known.
    """

    def __init__(self, exchange: Exchange, originals: Exchange | None = None) -> None:
        self.new: list[ObjectRow] = []
        self.leaves: dict[int, Leaf] = {}
        self.pinned: list[object] = []
        self.size = 0
        self._exchange = exchange
        self._originals = originals
        self._open: set[int] = set()
        self.made: set[int] = set()

    def value(self, obj: Any, depth: int = 0) -> Plain:
        """An object as a value of the tree, inside of so many containers.

        Raises:
            Unsupported: it cannot be handed over.
        """
        self.size += 1
        # By their very types: a NumPy float is a float as well, and arrives as what it is.
        if obj is None or type(obj) is bool or type(obj) is float:
            return obj
        if type(obj) is str:
            self.size += len(obj)
            return plain_text(obj)
        if type(obj) is int:
            return self._integer(obj)
        if isinstance(obj, Remote) and self._exchange.asks:
            return self._remote(obj)
        # Before anything is made of it: what is known already is the same object at the other end, too.
        number = self._exchange.number_of(obj)
        if number is not None:
            self._exchange.given.add(number)
            self.pinned.append(obj)
            return ["known", number]
        if isinstance(obj, torch.Tensor):
            reason = odd_tensor(obj)
            return self._leaf(obj) if reason is None else self._handle(obj, reason)
        if isinstance(obj, np.ndarray):
            reason = odd_array(obj)
            return self._leaf(obj) if reason is None else self._handle(obj, reason)
        plain = plain_constant(obj)
        if plain is not None:
            self.size += sum(len(part) for part in plain if isinstance(part, str))
            return plain
        if isinstance(obj, (list, tuple, dict, set, frozenset, slice, range)):
            return self._container(obj, depth)
        for plain_kind in (int, float, str):
            if isinstance(obj, plain_kind):  # a subclass, such as an IntEnum
                return self.value(plain_kind(obj), depth)
        return self._handle(obj, None)

    def withdraw(self) -> None:
        """Forget all that this message made known."""
        # A number that stayed here would be taken for known at the other end, which has never heard of it.
        for number in self.made:
            self._exchange.containers.pop(number, None)
        self._exchange.forget(self.made)

    def _new_number(self) -> int:
        number = self._exchange.new_number()
        self.made.add(number)
        return number

    def _remote(self, obj: Remote) -> Plain:
        if self._exchange.remotes is not None:
            self._exchange.remotes.append(obj)
            return ["remote", len(self._exchange.remotes) - 1]
        owner, name, word = origin_of(obj)
        number = self._exchange.number_of(obj)
        if number is not None:
            self._exchange.given.add(number)
            return ["known", number]
        # By its name alone the other worker would take what it has of that name itself, and by its number any object.
        if name is None or owner is not self._exchange.owner:
            raise Unsupported(
                f"`{word}` lives in another worker, or in one that is gone, and cannot be handed to this one: what is "
                "the student's goes to the student's functions, what is the reference's to the reference's"
            )
        return list(name)

    def _integer(self, obj: int) -> Plain:
        # In hexadecimal, of which both ends read any number of digits in linear time. Decimal digits take longer.
        if -_INLINE_INT <= obj < _INLINE_INT:
            return obj
        if obj.bit_length() > 4 * MAX_INT_DIGITS:
            raise Unsupported(f"an int of {obj.bit_length()} bits is too large to hand over")
        self.size += obj.bit_length() // 4
        return ["int", hex(obj)]

    def _path(self, obj: PurePath) -> Plain:
        if obj.is_absolute():
            raise Unsupported(
                "an absolute path cannot be handed to a worker, which has folders of its own: hand one from the folder "
                "of the student's file, such as Path('data/words.txt'), or one in tmp_path"
            )
        self.size += len(str(obj))
        return ["path", plain_text(obj.as_posix())]

    def _leaf(self, obj: Leaf) -> Plain:
        if self._originals is not None and isinstance(obj, torch.Tensor):
            before = self._originals.original_tensor(obj)
            if before is not obj:
                return self.value(before, 0)
        # Described when the message is finished: only then is it known what else lies in the same memory.
        number = self._new_number()
        known = self._exchange.register(number, obj)
        if self._exchange.asks and isinstance(obj, torch.Tensor):
            known.base_version = own_version(obj)
        self.leaves[number] = obj
        self.pinned.append(obj)
        return ["known", number]

    def _handle(self, obj: object, reason: str | None) -> Plain:
        # From a check nothing crosses that runs: a worker would have to import or unpickle it. What a worker cannot
        # hand over stays there, and a check may call it or pass it on by its number.
        if self._exchange.asks:
            # Of a worker's paths handles are made: what a check opens is no student's choice.
            if isinstance(obj, PurePath):
                return self._path(obj)
            if (name := public_name(obj)) is not None:
                return ["public", name]
            if isinstance(obj, type) and issubclass(obj, Remote):
                raise Unsupported(
                    "`type(...)` of what lives in another process is no class: ask  isinstance(x, student.Name)"
                )
            what = reason or f"what the check made, {_with_article(type(obj).__name__)},"
            raise Unsupported(
                f"{what} cannot be handed to student code, which runs in another process: let a function of the probe "
                "file make it there and call the student's function (docs/writing-exercises.md, Fixtures)"
            )
        number = self._new_number()
        self._exchange.register(number, obj)
        self.new.append(ObjectRow(number, describe_handle(obj, reason)))
        return ["known", number]

    def _container(self, obj: object, depth: int) -> Plain:
        if depth >= self._exchange.caps.depth:
            raise Unsupported("containers are nested too deeply to hand over")
        if id(obj) in self._open:
            raise Unsupported("a container that holds itself cannot be handed over")
        self._open.add(id(obj))
        row = self.described(obj, depth)
        self._open.discard(id(obj))
        # Numbered after its items, which are then told before it: the other end can build each at once.
        number = self._new_number()
        self._exchange.register_container(number, obj, row)
        self.new.append(ObjectRow(number, row))
        return ["known", number]

    def described(self, obj: Any, depth: int = 0) -> ContainerRow:
        """A container as a row."""
        if self._originals is not None:
            obj = self._originals.original_container(obj)
        if isinstance(obj, dict):
            pairs: list[Plain] = [
                [self.value(key, depth + 1), self.value(item, depth + 1)] for key, item in obj.items()
            ]
            return ContainerRow(DICTS.get(type(obj), "dict"), pairs)
        if isinstance(obj, (set, frozenset)):
            # Sorted: in whatever order a set gives its members, an unchanged one is not told as changed.
            items = [self.value(item, depth + 1) for item in obj]
            return ContainerRow("set" if isinstance(obj, set) else "frozenset", sorted(items, key=json.dumps))
        key = key_of(type(obj))
        if key is not None and len(key[1]) == len(obj):
            self._exchange.named[key] = type(obj)
            return ContainerRow("named", [key[0], list(key[1]), *(self.value(item, depth + 1) for item in obj)])
        kind = next(kind for kind, class_ in _ORDERED.items() if isinstance(obj, class_))
        parts = (obj.start, obj.stop, obj.step) if kind in ("slice", "range") else obj
        return ContainerRow(kind, [self.value(item, depth + 1) for item in parts])


def _with_article(word: str) -> str:
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"
