"""What a check says about tensors, arrays and numbers. Every helper raises `CheckFailed`, whose text teaches.

Each failure has two texts: the property that does not hold, which may be told of a hidden input, and the whole story
with numbers, for shown checks and for staff. The order, where a helper looks at several things, is shape, dtype,
device, values.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from grader.check import show
from grader.check.student import CannotJudge, Student, party_of
from grader.wire.blocks import array_extent, span
from grader.wire.describe import Claims
from grader.wire.exchange import claims_of
from grader.wire.incoming import copies

_DEVICE = re.compile(r"(cpu|cuda|meta|mps|xpu|sim)(:[0-7])?")

_TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
"""Relative and absolute tolerance by dtype, those of `torch.testing.assert_close`."""


class CheckFailed(AssertionError):
    """A property does not hold.

    Attributes:
        public: the property, safe to tell of a hidden input.
        story: the same with numbers.
    """

    def __init__(self, public: str, story: str = "") -> None:
        self.public = public
        self.story = story or public
        super().__init__(self.story)


def require(condition: Any, public: str, story: str = "") -> None:
    """Fail unless a condition holds.

    Args:
        condition: anything that is true or false.
        public: what is wrong, in the student's words; must not tell a hidden input or its expected value.
        story: the same with numbers, for shown checks and staff.
    """
    if not condition:
        raise CheckFailed(public, story)


def _is_kind(fits: bool, yours: Any, asked: str, what: str) -> None:
    public = f"{what} is {show.kind(yours, public=True)}, {asked} is asked"
    require(fits, public, f"{what} is {show.kind(yours)}, {asked} is asked")


def is_tensor(yours: Any, what: str = "the result") -> None:
    """The value is a tensor."""
    _is_kind(isinstance(yours, torch.Tensor), yours, "a tensor", what)


def is_array(yours: Any, what: str = "the result") -> None:
    """The value is a NumPy array."""
    _is_kind(isinstance(yours, np.ndarray), yours, "a NumPy array", what)


def is_instance(yours: Any, kind: type, what: str = "the result") -> None:
    """The value is of a plain Python type; bool is no int here."""
    fits = isinstance(yours, kind) and not (kind is int and isinstance(yours, bool))
    _is_kind(fits, yours, show.with_article(kind.__name__), what)


def same_shape(yours: Any, asked: Any, what: str = "the result") -> None:
    """The shapes are equal; `asked` is a tensor, an array or a shape."""
    _has_shape(yours, what)
    wanted = tuple(asked.shape if hasattr(asked, "shape") else asked)
    if show.shape(yours) != wanted:
        raise CheckFailed(
            f"{what} has the wrong shape", _pair(f"{what} has the wrong shape", wanted, show.shape(yours))
        )


def same_dtype(yours: Any, asked: Any, what: str = "the result") -> None:
    """The dtypes are equal; `asked` is a tensor, an array or a dtype."""
    _has_shape(yours, what)
    wanted = str(getattr(asked, "dtype", asked)).removeprefix("torch.")
    if show.dtype(yours) != wanted:
        text = f"{what} has dtype {show.dtype(yours)}, {wanted} is asked"
        raise CheckFailed(text)


def on_device(yours: Any, asked: str, what: str = "the result") -> None:
    """The tensor is on a device; "cuda" allows any index, "cuda:1" only that one."""
    is_tensor(yours, what)
    device = claims(yours).device
    place = device if _DEVICE.fullmatch(device) else "another device"  # a worker's free text goes into no message
    require(device == asked or device.split(":")[0] == asked, f"{what} is on {place}, {asked} is asked")


def same_layout(yours: Any, asked: Any, what: str = "the result") -> None:
    """Shape, strides and storage offset are equal."""
    same_shape(yours, asked, what)
    for name, mine, wanted in (
        ("strides", _strides(yours), _strides(asked)),
        ("storage offset", _offset(yours), _offset(asked)),
    ):
        if mine != wanted:
            raise CheckFailed(f"{what} has the wrong {name}", _pair(f"{what} has the wrong {name}", wanted, mine))


def same_values(
    yours: Any, asked: Any, what: str = "the result", *, rtol: float | None = None, atol: float | None = None
) -> None:
    """The values are equal, within the tolerance of the less exact dtype; the dtypes may differ.

    Args:
        yours: a tensor, array, number, or list, tuple or dict of them.
        asked: what it must be equal to; NaN is equal to NaN, and to nothing else.
        what: its name in messages.
        rtol: relative tolerance, by default that of `torch.testing.assert_close` for the dtype.
        atol: absolute tolerance, likewise.

    Raises:
        CannotJudge: the shapes differ, so that there is nothing to compare.
        CheckFailed: the values differ.
    """
    if isinstance(asked, (list, tuple, dict)):
        _same_items(yours, asked, what, rtol, atol)
    elif isinstance(asked, (torch.Tensor, np.ndarray, np.generic, int, float, complex)) and not isinstance(asked, bool):
        _same_numbers(yours, asked, what, rtol, atol)
    elif type(yours) is not type(asked) or yours != asked:
        raise CheckFailed(
            f"{what} is not what is asked", _pair(f"{what} is not what is asked", show.show(asked), show.show(yours))
        )


def same(
    yours: Any, asked: Any, what: str = "the result", *, rtol: float | None = None, atol: float | None = None
) -> None:
    """Kind, shape, dtype, device and values are equal, looked at in this order."""
    if isinstance(asked, torch.Tensor):
        is_tensor(yours, what)
        same_shape(yours, asked, what)
        same_dtype(yours, asked, what)
        on_device(yours, claims(asked).device, what)
    elif isinstance(asked, np.ndarray):
        is_array(yours, what)
        same_shape(yours, asked, what)
        same_dtype(yours, asked, what)
    else:
        is_instance(yours, type(asked), what)
    same_values(yours, asked, what, rtol=rtol, atol=atol)


def shares_memory(one: Any, other: Any) -> bool:
    """Whether two tensors or arrays lie in the same storage, overlapping or not."""
    first, second = _place(one), _place(other)
    return first[1] > 0 and first[0] < second[0] + second[1] and second[0] < first[0] + first[1]


def shares(yours: Any, base: Any, what: str = "the result", base_name: str = "the argument") -> None:
    """The value shares memory with another: a view, not a copy."""
    _has_shape(yours, what)
    require(shares_memory(yours, base), f"{what} is a copy; it must share memory with {base_name}")


def shares_nothing(yours: Any, base: Any, what: str = "the result", base_name: str = "the argument") -> None:
    """The value has memory of its own."""
    _has_shape(yours, what)
    require(not shares_memory(yours, base), f"{what} shares memory with {base_name}; it must have its own")


def is_view_of(yours: Any, base: torch.Tensor, what: str = "the result", base_name: str = "the argument") -> None:
    """The tensor is a window on the base's storage, within its elements."""
    is_tensor(yours, what)
    shares(yours, base, what, base_name)
    inside = _span_of(base)[0] <= _span_of(yours)[0] and _span_of(yours)[1] <= _span_of(base)[1]
    require(inside, f"{what} reaches beyond {base_name} in memory")


@contextmanager
def unchanged(*values: Any, what: str = "the argument") -> Iterator[None]:
    """What runs inside leaves the values as they are: numbers, shape, strides, dtype, and no in-place change."""
    before = copies(*values)
    layouts = [_layout(value) for value in values]
    yield
    for value, old, layout in zip(values, before, layouts, strict=True):
        if _layout(value) != layout:
            raise CheckFailed(f"{what} was changed: its shape, strides or dtype is another one now")
        if not _equal(value, old):
            story = _pair(f"{what} was changed", show.show(old), show.show(value), "before", "after")
            raise CheckFailed(f"{what} was changed", story)
        version = claims(value).version if isinstance(value, torch.Tensor) else 0
        require(version <= 0, f"{what} was written to in place, even if its numbers are the same now")


def in_place(yours: Any, argument: torch.Tensor, what: str = "the result") -> None:
    """The very argument came back, changed in place."""
    require(yours is argument, f"{what} is not the argument itself; change it in place and return it")
    require(claims(argument).version > 0, "the argument was not changed in place")


def claims(tensor: torch.Tensor) -> Claims:
    """What the worker says of a tensor: `requires_grad`, `is_leaf`, `grad_fn`, `version`, `device`, and more.

    A tensor that a check made itself tells its own.
    """
    told = claims_of(tensor)
    if told is not None:
        return told
    return Claims(requires_grad=tensor.requires_grad, is_leaf=tensor.is_leaf, device=str(tensor.device))


def _same_items(yours: Any, asked: Any, what: str, rtol: float | None, atol: float | None) -> None:
    keys = asked.keys() if isinstance(asked, dict) else range(len(asked))
    kind = next(base for base in (list, tuple, dict) if isinstance(asked, base))
    _is_kind(isinstance(yours, kind), yours, show.with_article(kind.__name__), what)
    text = f"{what} has {len(yours)} items, {len(asked)} are asked"
    simple = not any(
        isinstance(item, (torch.Tensor, np.ndarray)) for item in (asked.values() if isinstance(asked, dict) else asked)
    )
    story = _pair(f"{what} is not what is asked", show.show(asked), show.show(yours))
    if len(yours) != len(asked):
        raise CheckFailed(f"{what} has the wrong number of items" if simple else text, story)
    for key in keys:
        if isinstance(asked, dict) and key not in yours:
            raise CheckFailed(f"{what} lacks a key", f"{what} lacks the key {key!r}")
        try:
            same_values(yours[key], asked[key], f"{what}[{key!r}]", rtol=rtol, atol=atol)
        except CheckFailed as failed:
            if simple:
                raise CheckFailed(f"{what} is not what is asked", story) from None
            raise failed from None


def _same_numbers(yours: Any, asked: Any, what: str, rtol: float | None, atol: float | None) -> None:
    if isinstance(yours, bool) or not isinstance(yours, (torch.Tensor, np.ndarray, np.generic, int, float, complex)):
        _is_kind(False, yours, _asked_kind(asked), what)
    if isinstance(yours, (int, float)) and isinstance(asked, (int, float)) and yours == asked:
        return  # the common case of plain numbers, without making tensors of them
    if isinstance(yours, int) and yours.bit_length() >= sys.float_info.max_exp:  # no float is as large
        head = f"{what} has the wrong value"
        raise CheckFailed(head, _pair(head, show.show(asked), show.show(yours)))
    mine, wanted = _as_tensor(yours), _as_tensor(asked)
    if mine.shape != wanted.shape:
        text = f"{what} cannot be compared: its shape is wrong"
        raise CannotJudge(_pair(text, show.shape(wanted), show.shape(mine)))
    if wanted.numel() == 0:
        return
    relative, absolute = _tolerance(mine.dtype, wanted.dtype)
    relative, absolute = relative if rtol is None else rtol, absolute if atol is None else atol
    wrong, error = _differences(mine, wanted, relative, absolute)
    if bool(wrong.any()):
        raise _values_differ(what, yours, asked, mine, wanted, wrong, error)


def _asked_kind(asked: Any) -> str:
    return "a number" if isinstance(asked, (int, float, complex, np.generic)) else show.kind(asked)


def _differences(
    mine: torch.Tensor, wanted: torch.Tensor, rtol: float, atol: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Which elements are wrong, and by how much. Integers of every size are compared exactly."""
    exact = not any(t.dtype.is_floating_point or t.dtype.is_complex for t in (mine, wanted))
    if exact:
        wrong = mine.to(torch.int64) != wanted.to(torch.int64)
        if torch.uint64 in (mine.dtype, wanted.dtype):
            wrong |= mine.double() != wanted.double()
        return wrong, (mine.double() - wanted.double()).abs()
    wide = torch.complex128 if mine.dtype.is_complex or wanted.dtype.is_complex else torch.float64
    a, b = mine.to(wide), wanted.to(wide)
    error = (a - b).abs()
    equal = (a == b) | (a.isnan() & b.isnan()) | (error <= atol + rtol * b.abs()) & b.isfinite() & a.isfinite()
    return ~equal, error


def _values_differ(
    what: str,
    yours: Any,
    asked: Any,
    mine: torch.Tensor,
    wanted: torch.Tensor,
    wrong: torch.Tensor,
    error: torch.Tensor,
) -> CheckFailed:
    count, total = int(wrong.sum()), wrong.numel()
    nan = (
        bool((mine.isnan() & ~wanted.isnan()).any()) if mine.dtype.is_floating_point or mine.dtype.is_complex else False
    )
    reason = "has NaN where a number is asked" if nan else "has the wrong value" + ("s" if total > 1 else "")
    head = f"{what} {reason}"
    if total > 1:
        head += f": {count} of {total} elements are wrong"
    if total <= show.WHOLE:
        return CheckFailed(head, _pair(head, show.show(asked), show.show(yours)))
    first = tuple(int(i) for i in wrong.nonzero()[0])
    lines = [head, f"first at {list(first)}: asked {_number_text(wanted[first])}, yours {_number_text(mine[first])}"]
    finite = torch.where(wrong & error.isfinite(), error, -1.0)
    worst = np.unravel_index(int(finite.argmax()), tuple(wrong.shape))
    if float(finite.max()) >= 0:
        lines.append(f"worst at {[int(i) for i in worst]}: off by {float(finite.max()):.3g}")
    return CheckFailed(head, "\n".join(lines))


def _number_text(value: torch.Tensor) -> str:
    """One number, short."""
    number = value.item()
    return f"{number:.6g}" if isinstance(number, float) else str(number)


def _as_tensor(value: Any) -> torch.Tensor:
    if isinstance(value, torch.Tensor):
        return value.detach().resolve_conj().resolve_neg()
    if isinstance(value, (np.ndarray, np.generic)):
        native = np.array(value)
        plain = {"g": np.dtype("f8"), "G": np.dtype("c16")}.get(native.dtype.char, native.dtype.newbyteorder("="))
        with np.errstate(over="ignore"):  # PyTorch has no long doubles
            return torch.from_numpy(native.astype(plain, copy=True))
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return torch.tensor(float(value), dtype=torch.float64)
    return torch.tensor(value, dtype={int: torch.int64, float: torch.float64}.get(type(value), torch.complex128))


def _tolerance(*dtypes: torch.dtype) -> tuple[float, float]:
    known = [_TOLERANCES.get(dtype, (1e-1, 1e-1)) for dtype in dtypes if dtype.is_floating_point or dtype.is_complex]
    return max(known, default=(0.0, 0.0))


def _has_shape(yours: Any, what: str) -> None:
    _is_kind(hasattr(type(yours), "shape") and hasattr(type(yours), "dtype"), yours, "a tensor", what)


def _strides(value: Any) -> tuple[int, ...]:
    return tuple(value.stride()) if isinstance(value, torch.Tensor) else tuple(value.strides)


def _offset(value: Any) -> int:
    return int(value.storage_offset()) if isinstance(value, torch.Tensor) else 0


def _layout(value: Any) -> Any:
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return show.shape(value), _strides(value), show.dtype(value)
    return type(value)


def _place(value: Any) -> tuple[int, int]:
    """Address and size of the memory that a value is a window on."""
    if isinstance(value, torch.Tensor):
        storage = value.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    extent = array_extent(value)
    return extent.start, extent.size


def _span_of(value: torch.Tensor) -> tuple[int, int]:
    """First and last address of the elements."""
    high = int(span(tuple(value.shape), tuple(value.stride()))[1])
    start = int(value.untyped_storage().data_ptr() + value.storage_offset() * value.itemsize)
    return start, start + (high + 1) * value.itemsize


def _equal(value: Any, old: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return _bits(value) == _bits(old)
    if isinstance(value, np.ndarray):
        return bool(value.tobytes() == old.tobytes())
    if isinstance(value, (list, tuple)):
        return len(value) == len(old) and all(_equal(a, b) for a, b in zip(value, old, strict=True))
    if isinstance(value, dict):
        return value.keys() == old.keys() and all(_equal(value[key], old[key]) for key in value)
    return bool(value == old)


def _bits(value: torch.Tensor) -> bytes:
    plain = value.detach().resolve_conj().resolve_neg().contiguous().flatten()
    return bytes(plain.view(torch.uint8).numpy().tobytes()) if plain.numel() else b""


def _pair(head: str, asked: Any, yours: Any, first: str = "asked", second: str = "yours") -> str:
    width = max(len(first), len(second)) + 2
    return f"{head}\n{first:<{width}}{asked}\n{second:<{width}}{yours}"


def type_name(remote: Any) -> str:
    """The class name of an object that stays with the worker, as the worker says; of anything else, its own."""
    told = getattr(remote, "_claims", None)
    return str(getattr(told, "type", type(remote).__name__))


def public_names(student: Student) -> list[str]:
    """The public names of the student's module."""
    return sorted(party_of(student).names())
