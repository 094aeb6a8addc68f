"""Values: equal within the tolerance of their dtype. The messages tell how many differ, and where."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from grader.check import show
from grader.check.properties import (
    facts,
    is_array,
    is_instance,
    is_kind,
    is_tensor,
    on_device,
    pair,
    said_by,
    same_dtype,
    same_shape,
)
from grader.connection.connection import is_proxy
from grader.connection.record import compare
from grader.model.endings import CannotJudge, CheckFailed
from grader.model.public import say

_TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
"""Relative and absolute tolerance by dtype, those of `torch.testing.assert_close`."""


def same_values(
    yours: Any, asked: Any, what: str = "the result", *, rtol: float | None = None, atol: float | None = None
) -> None:
    """The values are equal, within the tolerance of the asked dtype; the dtypes may differ.

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
    compare(yours)
    try:
        _same_values(yours, asked, what, rtol, atol)
    except CheckFailed as failed:
        failed.by_value, failed.about = True, failed.about or "values"
        raise


def _same_values(yours: Any, asked: Any, what: str, rtol: float | None, atol: float | None) -> None:
    if isinstance(asked, (list, tuple, dict)):
        _same_items(yours, asked, what, rtol, atol)
    # bool is an int to Python, and is compared below as what it is: True is not 1 here.
    elif isinstance(asked, (torch.Tensor, np.ndarray, np.generic, int, float, complex)) and not isinstance(asked, bool):
        _same_numbers(yours, asked, what, rtol, atol)
    elif type(yours) is not type(asked) or yours != asked:
        public = say("{} is not what is asked", what)
        raise CheckFailed(public, pair(public, show.show(asked), show.show(yours)))


def same(
    yours: Any, asked: Any, what: str = "the result", *, rtol: float | None = None, atol: float | None = None
) -> None:
    """Kind, shape, dtype, device and values are equal, looked at in this order."""
    if isinstance(asked, (torch.Tensor, np.ndarray)):
        is_kind = is_tensor if isinstance(asked, torch.Tensor) else is_array
        is_kind(yours, what)
        same_shape(yours, asked, what)
        same_dtype(yours, asked, what)
        if isinstance(asked, torch.Tensor):
            on_device(yours, facts(asked).device, what)
    else:
        is_instance(yours, type(asked), what)
    same_values(yours, asked, what, rtol=rtol, atol=atol)


def agrees(yours: Any, asked: Any, *, rtol: float | None = None, atol: float | None = None) -> bool:
    """Whether `same_values` passes. A question, for what a check asks only where the values are right."""
    try:
        same_values(yours, asked, rtol=rtol, atol=atol)
    except (CheckFailed, CannotJudge):
        return False
    return True


def as_elsewhere(
    yours: Any,
    asked: Any,
    same: Callable[[], Any],
    other: Callable[[], Any],
    what: str = "the result",
    *,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """The value is right; or it is wrong in the same way where the rule plays no part, which is for another rule.

    Args:
        yours: the student's value.
        asked: the right one.
        same: gives the student's value for an input with the same right one, to which the rule does not apply.
        other: gives the student's value for an input with another right one: the same value for all keeps no rule.
        what: its name in messages.
        rtol: relative tolerance, as for `same_values`.
        atol: absolute tolerance.
    """
    if agrees(yours, asked, rtol=rtol, atol=atol):
        return
    comparable = isinstance(yours, type(asked)) or (_is_numeric(yours) and _is_numeric(asked))
    wrong_alike = agrees(yours, same(), rtol=rtol, atol=atol) and not agrees(yours, other(), rtol=rtol, atol=atol)
    if not (comparable and wrong_alike):
        same_values(yours, asked, what, rtol=rtol, atol=atol)


def number(value: Any, what: str = "the result") -> Any:
    """The one number in a tensor, an array or a number: for checks to which kind and shape do not matter.

    Raises:
        CheckFailed: it holds no numbers, or not one.
    """
    is_kind(_is_numeric(value), value, "a number", what)
    if math.prod(_shape(value)) != 1:
        raise CheckFailed(say("{} does not hold one number, but more or none", what))
    return value if isinstance(value, (int, float, complex)) else _as_tensor(value).item()


def plain(value: Any) -> Any:
    """The same with tuples for lists, at every depth: for checks to which either of them is right."""
    return tuple(plain(item) for item in value) if isinstance(value, (list, tuple)) else value


def _same_items(yours: Any, asked: Any, what: str, rtol: float | None, atol: float | None) -> None:
    wanted = asked if isinstance(asked, dict) else dict(enumerate(asked))
    # The plain kind: a tuple is asked, and any tuple will do, a named one too.
    kind = next(base for base in (list, tuple, dict) if isinstance(asked, base))
    is_kind(isinstance(yours, kind), yours, show.with_article(kind.__name__), what)
    simple = not any(isinstance(item, (torch.Tensor, np.ndarray)) for item in wanted.values())
    public = say("{} is not what is asked", what)
    story = pair(public, show.show(asked), show.show(yours))
    if len(yours) != len(asked):
        items = say("{} has the wrong number of items", what)
        raise CheckFailed(items, story if simple else f"{what} has {len(yours)} items, {len(asked)} are asked")
    for key, item in wanted.items():
        if isinstance(asked, dict) and key not in yours:
            raise CheckFailed(say("{} lacks a key", what), f"{what} lacks the key {key!r}")
        try:
            same_values(yours[key], item, f"{what}[{key!r}]", rtol=rtol, atol=atol)
        except CheckFailed as failed:
            raise (CheckFailed(public, story) if simple else failed) from None


def _same_numbers(yours: Any, asked: Any, what: str, rtol: float | None, atol: float | None) -> None:
    if not _is_numeric(yours):
        is_number = isinstance(asked, (int, float, complex, np.generic))
        is_kind(False, yours, "a number" if is_number else show.kind(asked), what)
    if isinstance(yours, (int, float)) and isinstance(asked, (int, float)) and yours == asked:
        return  # the common case of plain numbers, without making tensors of them
    if isinstance(yours, int) and yours.bit_length() >= sys.float_info.max_exp:  # no float is as large
        head = say("{} has the wrong value", what)
        raise CheckFailed(head, pair(head, show.show(asked), show.show(yours)))
    # PyTorch would broadcast here, and call a column equal to a row. Before anything is copied: a worker may say that a
    # few bytes are a large tensor.
    if _shape(yours) != _shape(asked):
        text = say("{} cannot be compared: its shape is wrong", what)
        story = pair(text, _shape(asked), _shape(yours))
        picture = show.two_shapes(_shape(asked), _shape(yours), said_by(story))
        raise CannotJudge(text, story, about="shape", picture=picture)
    # Compared as tensors of one kind, wherever they came from; kind and dtype have checks of their own.
    mine, wanted = _as_tensor(yours), _as_tensor(asked)
    if wanted.numel() == 0 or (mine.dtype == wanted.dtype == torch.float32 and torch.equal(mine, wanted)):
        return  # the common case, without copies in float64, which for large tensors take a second
    relative, absolute = _tolerance(mine.dtype, wanted.dtype)
    relative, absolute = relative if rtol is None else rtol, absolute if atol is None else atol
    wrong, error = _differences(mine, wanted, relative, absolute)
    if bool(wrong.any()):
        raise _values_differ(what, yours, asked, mine, wanted, wrong, error)


def _is_numeric(value: Any) -> bool:
    kinds = (torch.Tensor, np.ndarray, np.generic, int, float, complex)
    return isinstance(value, kinds) and not isinstance(value, bool) and not is_proxy(value)


def _shape(value: Any) -> tuple[int, ...]:
    return show.shape(value) if hasattr(type(value), "shape") else ()


def _differences(
    mine: torch.Tensor, wanted: torch.Tensor, rtol: float, atol: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Which elements are wrong, and by how much. Integers of every size are compared exactly."""
    if not _is_inexact(mine.dtype) and not _is_inexact(wanted.dtype):
        wrong = mine.to(torch.int64) != wanted.to(torch.int64)
        # int64 does not hold its upper half, where two numbers may become one. As floats they are apart.
        if torch.uint64 in (mine.dtype, wanted.dtype):
            wrong |= mine.double() != wanted.double()
        return wrong, (mine.double() - wanted.double()).abs()
    # In float64, so that the comparison adds no rounding of its own.
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
    nan = _is_inexact(mine.dtype) and bool((mine.isnan() & ~wanted.isnan()).any())
    reason = say("has the wrong value") if total == 1 else say("has the wrong values")
    public = say("{} {}", what, say("has NaN where a number is asked") if nan else reason)
    # How many are wrong is the answer's to choose, and so it is told of a shown input alone.
    head = f"{public}: {count} of {total} elements are wrong" if total > 1 else str(public)
    if total <= show.WHOLE:
        story = pair(head, show.show(asked), show.show(yours))
        return CheckFailed(public, story, picture=show.grid(wanted, mine, wrong, said_by(story)))
    first = tuple(int(i) for i in wrong.nonzero()[0])
    lines = [head, f"first at {list(first)}: asked {_number_text(wanted[first])}, yours {_number_text(mine[first])}"]
    finite = torch.where(wrong & error.isfinite(), error, -1.0)
    worst = np.unravel_index(int(finite.argmax()), tuple(wrong.shape))
    if float(finite.max()) >= 0:
        lines.append(f"worst at {[int(i) for i in worst]}: off by {float(finite.max()):.3g}")
    return CheckFailed(public, "\n".join(lines), picture=show.grid(wanted, mine, wrong, ""))


def _number_text(value: torch.Tensor) -> str:
    """One number, short."""
    number = value.item()
    return f"{number:.6g}" if isinstance(number, float) else str(number)


def _as_tensor(value: Any) -> torch.Tensor:
    if isinstance(value, torch.Tensor):
        return value.detach().resolve_conj().resolve_neg()
    if isinstance(value, (np.ndarray, np.generic)):
        # PyTorch takes no arrays in another byte order, or with negative strides.
        native = np.array(value)
        plain = {"g": np.dtype("f8"), "G": np.dtype("c16")}.get(native.dtype.char, native.dtype.newbyteorder("="))
        with np.errstate(over="ignore"):  # PyTorch has no long doubles
            return torch.from_numpy(native.astype(plain, copy=True))
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return torch.tensor(float(value), dtype=torch.float64)
    return torch.tensor(value, dtype={int: torch.int64, float: torch.float64}.get(type(value), torch.complex128))


def _tolerance(mine: torch.dtype, wanted: torch.dtype) -> tuple[float, float]:
    """Relative and absolute tolerance: those of the asked dtype, and no looser ones that the answer could choose.

    An answer in float32 where float64 is asked loses the points of its dtype, and not those of its values as well.
    Narrower dtypes widen nothing: of float8, whose steps are an eighth and more, anything would be close enough.
    """
    return max(_of_dtype(wanted), min(_of_dtype(mine), _TOLERANCES[torch.float32]))


def _of_dtype(dtype: torch.dtype) -> tuple[float, float]:
    if not _is_inexact(dtype):
        return 0.0, 0.0
    if dtype in _TOLERANCES:
        return _TOLERANCES[dtype]
    limits = torch.finfo(dtype)
    return limits.eps, limits.smallest_normal


def _is_inexact(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex
