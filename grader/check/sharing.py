"""Memory: views and copies, arguments that stay as they are, changes in place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from grader.check import show
from grader.check.properties import facts, has_shape, is_tensor, layout_of, require, same_shape
from grader.check.values import agrees
from grader.connection.record import watch
from grader.model.endings import CheckFailed
from grader.model.public import say
from grader.wire.decode import copies
from grader.wire.memory import extent, place_of

_PATTERN = 113
"""So many different numbers are written; each fits into every dtype."""


def shares_memory(one: Any, other: Any) -> bool:
    """Whether two tensors or arrays lie in the same storage, overlapping or not."""
    # Addresses compare well: what shared memory in the worker shares it here, as the wire sends a storage once.
    (start, end), (other_start, other_end) = place_of(one), place_of(other)
    return start < end and start < other_end and other_start < end


def _require(condition: bool, public: str, actual: Any, base: Any, names: tuple[str, str]) -> None:
    """Fail unless a condition holds, with both values drawn in their storages."""
    if not condition:
        raise CheckFailed(public, picture=show.windows({names[1]: base, names[0]: actual}))


def shares(actual: Any, base: Any, what: str = "the result", base_name: str = "the argument") -> None:
    """The value shares memory with another: a view, not a copy."""
    has_shape(actual, what)
    public = say("{} is a copy; it must share memory with {}", what, base_name)
    _require(shares_memory(actual, base), public, actual, base, (what, base_name))


def shares_nothing(actual: Any, base: Any, what: str = "the result", base_name: str = "the argument") -> None:
    """The value has memory of its own."""
    has_shape(actual, what)
    public = say("{} shares memory with {}; it must have its own", what, base_name)
    _require(not shares_memory(actual, base), public, actual, base, (what, base_name))


def writes_show(actual: Any, base: Any, what: str = "the result", base_name: str = "the argument") -> None:
    """The value has the elements of another in the same memory: a write to either shows at its place in the other.

    Args:
        actual: a tensor or an array.
        base: what it must share memory with, element by element. Both are overwritten with small whole numbers.
        what: its name in messages.
        base_name: that of the other.
    """
    same_shape(actual, base, what)
    writable = not isinstance(actual, np.ndarray) or actual.flags.writeable
    require(writable, say("{} is read-only; a write to it must show in {}", what, base_name))
    watch()
    one_memory = shares_memory(actual, base)
    for target, seen, names in ((base, actual, (base_name, what)), (actual, base, (what, base_name))):
        # Twice, as one of the patterns may be what is there already.
        for first in (1, 0):
            pattern = ((np.arange(math.prod(base.shape)) + first) % _PATTERN).reshape(base.shape)
            target[...] = torch.from_numpy(pattern) if isinstance(target, torch.Tensor) else pattern
            shows = agrees(seen, copies(target)[0], rtol=0.0, atol=0.0)
            elsewhere = say("a write to {} does not show at the same place in {}", *names)
            copy = say("a write to {} does not show in {}: {} is a copy", *names, what)
            _require(shows, elsewhere if one_memory else copy, actual, base, (what, base_name))


def is_view_of(actual: Any, base: torch.Tensor, what: str = "the result", base_name: str = "the argument") -> None:
    """The tensor is a window on the base's storage, within its elements."""
    is_tensor(actual, what)
    shares(actual, base, what, base_name)
    inside = _span_of(base)[0] <= _span_of(actual)[0] and _span_of(actual)[1] <= _span_of(base)[1]
    _require(inside, say("{} reaches beyond {} in memory", what, base_name), actual, base, (what, base_name))


@contextmanager
def unchanged(*values: Any, what: str = "the argument") -> Iterator[None]:
    """What runs inside leaves the values as they are: numbers, shape, strides, dtype, and no in-place change."""
    what = say("`{}`", what) if what.isidentifier() else what
    # Copied together, so that values which share memory still do, and shapes and strides stay.
    before = copies(*values)
    watch()
    layouts = [_layout(value) for value in values]
    versions = [facts(value).version if isinstance(value, torch.Tensor) else 0 for value in values]
    yield
    for value, old, layout, version in zip(values, before, layouts, versions, strict=True):
        if _layout(value) != layout:
            raise CheckFailed(say("{} was changed: its shape, strides or dtype differs now", what))
        if not _equal(value, old):
            public = say("{} was changed", what)
            raise CheckFailed(public, show.pair(public, show.show(old), show.show(value), "before", "after"))
        # Written and written back leaves equal numbers. The worker counts writes in place, which is untrusted, so it is
        # the last thing that is compared.
        written = facts(value).version if isinstance(value, torch.Tensor) else 0
        require(written <= version, say("{} was written to in place, although its numbers are the same now", what))


def in_place(actual: Any, argument: torch.Tensor, what: str = "the result") -> None:
    """The very argument came back, changed in place."""
    watch()
    require(actual is argument, say("{} is not the argument itself; change it in place and return it", what))
    require(facts(argument).version > 0, say("the argument was not changed in place"))


def changed(argument: Any) -> Any:
    """An argument as a call left it, for a check that compares what student code made of it."""
    watch()
    return argument


def _layout(value: Any) -> Any:
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return show.shape(value), layout_of(value)[0], show.dtype(value)
    return type(value)


def _span_of(value: torch.Tensor) -> tuple[int, int]:
    """Where the elements begin in memory, and where they end."""
    start = int(value.untyped_storage().data_ptr() + value.storage_offset() * value.itemsize)
    strides = [stride * value.itemsize for stride in value.stride()]
    return extent(start, tuple(value.shape), strides, value.itemsize)


def _equal(value: Any, old: Any) -> bool:
    if type(value) is not type(old):
        return False
    if isinstance(value, torch.Tensor):
        return _bits(value) == _bits(old)
    if isinstance(value, np.ndarray):
        return bool(value.tobytes() == old.tobytes())
    if isinstance(value, (list, tuple)):
        return len(value) == len(old) and all(_equal(a, b) for a, b in zip(value, old, strict=True))
    if isinstance(value, dict):
        return value.keys() == old.keys() and all(_equal(value[key], old[key]) for key in value)
    # As text, a float is what it is: NaN stays NaN, and -0.0 is not 0.0.
    return repr(value) == repr(old) if isinstance(value, (float, complex)) else bool(value == old)


def _bits(value: torch.Tensor) -> bytes:
    # Bit for bit: NaN is not equal to itself, and -0.0 is equal to 0.0.
    plain = value.detach().resolve_conj().resolve_neg().contiguous().flatten()
    return bytes(plain.view(torch.uint8).numpy().tobytes()) if plain.numel() else b""
