"""What objects of the reference keep of a check's: copies, so that neither end sees what the other changes later.

In one process they would share it. So the moment in which the two come apart is an error of the check, told as one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import torch

from grader.wire.blocks import extent_of
from grader.wire.claimed import own_version
from grader.wire.exchange import Exchange
from grader.wire.handles import Remote, is_remote, origin_of
from grader.wire.held import items_of
from grader.wire.incoming import copies

Pair: TypeAlias = tuple[Any, Any]
"""Something of the check's, and the copy that the reference was given."""

_REMEDY = "let a function of the reference make it, or do all the steps and give what comes of them"


@dataclass
class _Lent:
    """One thing that the reference keeps a copy of."""

    refer: Callable[[], Any]
    copy: Any
    what: str
    state: tuple[Any, ...]


class Lent:
    """What the reference keeps copies of, in one check.

    Args:
        originals: the student's table: what student code changed of a thing is no change of the check's.
    """

    def __init__(self, originals: Exchange) -> None:
        self._originals = originals
        self._all: list[_Lent] = []

    def note(
        self,
        given: tuple[list[Any], list[Any]],
        function: Any,
        result: Any,
        what: str,
        keeps: Callable[[list[Remote], list[Any]], list[bool]],
    ) -> None:
        """Note of which things of a call objects of the reference keep copies.

        Args:
            given: the arguments, and the copies.
            function: what was called.
            result: what came of it.
            what: what messages call it.
            keeps: tells of some values whether objects of the worker lead to them.
        """
        pairs = [pair for one, other in zip(*given, strict=True) for pair in _pairs_of(one, other)]
        objects = [*_objects_in(function, *given[0], result)] if pairs else []
        kept = keeps(objects, [copy for _, copy in pairs]) if objects else [False] * len(pairs)
        for (original, copy), keeping in zip(pairs, kept, strict=True):
            weak = isinstance(original, (torch.Tensor, np.ndarray))
            if keeping:
                refer: Callable[[], Any] = weakref.ref(original) if weak else partial(_itself, original)
                self._all.append(_Lent(refer, copy, what, self._state(original)))

    def before_call(self) -> None:
        """Refuse to go on where the check has changed what the reference keeps a copy of.

        Raises:
            RuntimeError: it has.
        """
        self._all = [each for each in self._all if each.refer() is not None]
        for each in self._all:
            original = each.refer()
            if not _is_same(self._state(original), each.state):
                text = f"{each.what} keeps a copy of {_kind(original)} which the check has changed since"
                raise RuntimeError(f"{text}, and would not see that; {_REMEDY}")

    def after_call(self, overwritten: Sequence[tuple[int, int] | Callable[[], object]]) -> None:
        """Refuse what the reference did to a copy that it keeps: it would not be there in the check.

        Args:
            overwritten: what this call changed, as an `Exchange` notes it.

        Raises:
            RuntimeError: it changed one.
        """
        for each in self._all if overwritten else ():
            original = each.refer()
            if original is None or not any(_hits(place, each.copy) for place in overwritten):
                continue
            raise RuntimeError(f"{each.what} keeps a copy of {_kind(original)} and changes that, not yours; {_REMEDY}")

    def _state(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, torch.Tensor):
            value = self._originals.original_tensor(value)
            grad = value.grad if value.is_leaf else None
            return own_version(value), grad, 0 if grad is None else own_version(grad)
        if isinstance(value, np.ndarray):
            return (value.tobytes(),)
        return items_of(self._originals.original_container(value))


def tensors_of(values: list[Any], copies: list[Any]) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Every tensor in some values, each with its copy."""
    for value, copy in zip(values, copies, strict=True):
        yield from (pair for pair in _pairs_of(value, copy) if isinstance(pair[0], torch.Tensor))


def copied(
    args: tuple[Any, ...], kwargs: dict[str, Any], originals: Exchange | None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call as they were before student code changed them, in memory of their own."""
    found = copies(*args, *kwargs.values(), originals=originals)
    return found[: len(args)], dict(zip(kwargs, found[len(args) :], strict=True))


def _pairs_of(value: Any, copy: Any) -> Iterator[Pair]:
    """What can change in a value, each with its copy."""
    if is_remote(value):
        return
    if isinstance(value, (torch.Tensor, np.ndarray)):
        yield value, copy
    elif isinstance(value, (list, tuple, dict)):
        if not isinstance(value, tuple):
            yield value, copy
        both = (value.values(), copy.values()) if isinstance(value, dict) else (value, copy)
        for one, other in zip(*both, strict=True):
            yield from _pairs_of(one, other)


def _objects_in(*values: Any) -> Iterator[Remote]:
    """The objects of a worker in some values, and those in their containers."""
    for value in values:
        if is_remote(value):
            if origin_of(value).name is None:
                yield value
        elif isinstance(value, (list, tuple)):
            yield from _objects_in(*value)
        elif isinstance(value, dict):
            yield from _objects_in(*value.values())


def _itself(value: Any) -> Any:
    return value


def _kind(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return "a tensor of the check's"
    return f"{'an array' if isinstance(value, np.ndarray) else f'a {type(value).__name__}'} of the check's"


def _is_same(state: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    plain = (int, float, str, bytes)
    return len(state) == len(other) and all(
        a is b or (isinstance(a, plain) and type(a) is type(b) and a == b) for a, b in zip(state, other, strict=True)
    )


def _hits(place: tuple[int, int] | Callable[[], object], copy: Any) -> bool:
    if not isinstance(place, tuple):
        return place() is copy
    extent = extent_of(copy)
    return extent is not None and place[0] < extent.end and extent.start < place[1]
