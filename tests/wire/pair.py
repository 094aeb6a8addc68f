"""A check and its worker in one process, and how values are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from grader.connection.record import Record
from grader.wire.decode import Decoder
from grader.wire.encode import Encoder
from grader.wire.facts import AcceleratorFunctions
from grader.wire.frames import Caps, Unsupported, encode_tree, parse_tree
from grader.wire.table import ObjectTable, padded_blocks


class StandIn:
    """What the check gets for an object of the worker's."""

    def __init__(self, number: int, kind: str) -> None:
        self.number, self.kind = number, kind


class Pair:
    """A check and its worker in one process: each call is a message there and a message back.

    Attributes:
        record: what student code changed, as a connection keeps it.
        sent: bytes of memory in the last reply.
    """

    def __init__(self, caps: Caps | None = None, accelerator: AcceleratorFunctions | None = None) -> None:
        self.caps = caps or Caps()
        self.record = Record()
        self.sent = 0
        self._accelerator = accelerator
        self._objects: list[Any] = []

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Let the worker call a function of its own with the check's arguments."""
        ours, theirs = ObjectTable(), ObjectTable()
        other_has: dict[str, Any] = {"answers": True, "accelerator": self._accelerator}
        if self._accelerator is not None:
            self._accelerator.begin_request()
        tree, data = travel(*Encoder(ours, _child_of_stand_in).encode(args), self.caps)
        taken = Decoder(theirs, lambda _, number, kind: self._objects[number], self.caps, **other_has)
        result = function(*taken.decode(tree, data, data.toreadonly()))
        tree, data = travel(*Encoder(theirs, self._child_of_object, **other_has).encode([result]), self.caps)
        self.sent = len(data)
        decoder = Decoder(ours, lambda _, number, kind: StandIn(number, kind), self.caps)
        (value,) = decoder.decode(tree, data)
        self.record.changes += decoder.changes
        return value

    def _child_of_object(self, value: Any) -> list[Any]:
        self._objects.append(value)
        return ["proxy", len(self._objects) - 1, type(value).__name__]


def _child_of_stand_in(value: Any) -> list[Any]:
    if not isinstance(value, StandIn):
        raise Unsupported(type(value).__name__)
    return ["proxy", value.number, value.kind]


def travel(tree: Mapping[str, Any], blocks: Sequence[memoryview], caps: Caps) -> tuple[dict[str, Any], memoryview]:
    """A message as it arrives."""
    data = bytearray().join(padded_blocks(blocks))
    if len(data) > caps.data_bytes:
        raise Unsupported("too large")
    return parse_tree(encode_tree(tree, caps), caps), memoryview(data)


def there_and_back(value: Any) -> tuple[Any, Any]:
    """A value as the worker sees it, and as it comes back."""
    seen = []

    def answer(arg: Any) -> Any:
        seen.append(arg)
        return [arg]

    # Of the reply alone: the first call's argument would come back as itself.
    pair = Pair()
    pair.call(answer, value)
    return seen[0], pair.call(lambda: seen[0])


def quietly(function: Callable[..., Any]) -> Callable[..., None]:
    """A function that returns nothing, so that the worker only changes its arguments."""

    def run(*args: Any) -> None:
        function(*args)

    return run


def bits(obj: Any) -> bytes:
    """The elements of a tensor or array in order, as bytes."""
    if isinstance(obj, np.ndarray):
        return obj.tobytes()
    plain: torch.Tensor = (
        obj.detach().resolve_conj().resolve_neg().reshape(-1).clone(memory_format=torch.contiguous_format)
    )
    return plain.view(torch.uint8).numpy().tobytes() if plain.numel() else b""


def same(one: Any, other: Any) -> bool:
    """Whether two values agree in type, layout and every bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return (
            (one.dtype, one.shape, one.stride(), one.storage_offset(), one.is_conj(), one.is_neg())
            == (other.dtype, other.shape, other.stride(), other.storage_offset(), other.is_conj(), other.is_neg())
            and one.untyped_storage().nbytes() == other.untyped_storage().nbytes()
            and bits(one) == bits(other)
        )
    if isinstance(one, np.ndarray):
        return (
            (one.dtype.str, one.shape, one.flags.writeable) == (other.dtype.str, other.shape, other.flags.writeable)
            and (one.strides == other.strides or not one.size)
            and bits(one) == bits(other)
        )
    if isinstance(one, float):
        return bool(one.hex() == other.hex())
    if isinstance(one, complex):
        return same(one.real, other.real) and same(one.imag, other.imag)
    if isinstance(one, np.generic):
        return bool(one.dtype == other.dtype and one.tobytes() == other.tobytes())
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, slice):
        return same([one.start, one.stop, one.step], [other.start, other.stop, other.step])
    if isinstance(one, dict):
        return same(list(one.keys()), list(other.keys())) and same(list(one.values()), list(other.values()))
    return bool(one == other)


def linked(one: Any, other: Any) -> bool:
    """Whether two views see each other's writes, at any place."""
    for view in (one, other):
        if isinstance(view, torch.Tensor):
            view.fill_(0)
        else:
            view[...] = 0
    if isinstance(one, torch.Tensor):
        one.fill_(1)
    else:
        one[...] = 1
    return bool((other != 0).any())
