"""A check and its worker in one process, and how values are compared."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from grader.wire.exchange import Exchange
from grader.wire.frames import Caps
from grader.wire.handles import HandleRow, Origin, Remote
from grader.wire.incoming import Incoming, copies
from grader.wire.outgoing import Outgoing


class Handle(Remote):
    """What stands on the asking side for an object of the worker's."""

    def __init__(self, number: int, claims: HandleRow) -> None:
        super().__init__(Origin(None, None, f"object {number}"))
        self.claims = claims


class Pair:
    """A check and its worker in one process: each call is a message there and a message back."""

    def __init__(self, caps: Caps | None = None) -> None:
        self.asks = Exchange(asks=True, caps=caps, make_handle=Handle)
        self.answers = Exchange(asks=False, caps=caps, find=lambda space, name: f"{space}.{name}")

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Let the worker call a function of its own with our arguments."""
        out = Outgoing(self.asks)
        items = [out.value(arg) for arg in args]
        told, data = travel(*out.finish(), items)
        try:
            incoming = Incoming(self.answers, told["objects"], data)
            reply = Outgoing(self.answers)
            item = reply.value(function(*[incoming.value(item) for item in told["values"]]))
            told, data = travel(*reply.finish(), [item])
        finally:
            self.answers.end_call()
        try:
            incoming = Incoming(self.asks, told["objects"], data)
            return incoming.value(told["values"][0])
        finally:
            self.asks.end_call()


def travel(told: dict[str, Any], data: list[bytes], values: list[Any]) -> tuple[dict[str, Any], memoryview]:
    text = json.dumps({"objects": told, "values": values}).encode("ascii")
    return json.loads(text), memoryview(bytearray().join(data))


def there_and_back(value: Any) -> tuple[Any, Any]:
    """A value as the worker sees it, and as it comes back as a new object of the worker's."""
    seen = []

    def answer(arg: Any) -> Any:
        seen.append(arg)
        return copies(arg)[0]

    returned = Pair().call(answer, value)
    return seen[0], returned


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


def raw(obj: float) -> bytes:
    return struct.pack("<d", obj)


def same(one: Any, other: Any) -> bool:
    """Whether two values agree in type, geometry and every bit."""
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
        return raw(one) == raw(other) or (math.isnan(one) and math.isnan(other))
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
