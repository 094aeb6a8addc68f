"""Comparisons of values, within the tolerance of their dtype, and of memory: views, copies, what a call changes.

The messages say how many numbers differ, and where. Memory is compared by address in this process, where arguments and
results share it as they do in the worker.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from grader.check import show
from grader.check.properties import (
    assert_device,
    assert_dtype,
    assert_has_shape,
    assert_isinstance,
    assert_of_kind,
    assert_shape,
    assert_tensor,
    assert_true,
    facts,
    layout_of,
    shape_failure,
    unequal_failure,
)
from grader.connection.connection import is_proxy
from grader.connection.record import note_arguments_examined, note_comparison
from grader.model.endings import CheckFailed
from grader.model.public_text import DictKey, say
from grader.wire.call import encode_call
from grader.wire.frames import Unsupported
from grader.wire.memory import address_range, byte_range

_TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
"""Relative and absolute tolerance by dtype, those of `torch.testing.assert_close`."""


def assert_values(
    actual: Any, expected: Any, what: str = "the result", *, rtol: float | None = None, atol: float | None = None
) -> None:
    """Fail unless values are equal, within the tolerance of the expected dtype.

    The dtypes may differ. A NumPy array is not accepted for a tensor, nor a tensor for an array: compare an array with
    `expected.numpy()`.

    Args:
        actual: a tensor, array, number, or list, tuple or dict of them; or another value, such as a string.
        expected: the value that it must be equal to; NaN is equal to NaN, and to nothing else.
        what: the name of `actual` in messages.
        rtol: relative tolerance, by default that of `torch.testing.assert_close` for the dtype.
        atol: absolute tolerance, likewise.

    Raises:
        CheckFailed: the kinds, the shapes or the values differ.
    """
    note_comparison(actual)
    try:
        _compare_values(actual, expected, what, rtol, atol)
    except CheckFailed as failed:
        failed.by_value, failed.about = True, failed.about or "values"
        raise


def _compare_values(actual: Any, expected: Any, what: str, rtol: float | None, atol: float | None) -> None:
    if isinstance(expected, (list, tuple, dict)):
        _assert_equal_items(actual, expected, what, rtol, atol)
    elif _is_numeric(expected):
        _assert_near_numbers(actual, expected, what, rtol, atol)
    elif type(actual) is not type(expected) or actual != expected:
        raise unequal_failure(say("{} is not the expected value", what), show.show(expected), show.show(actual))


def assert_close(
    actual: Any, expected: Any, what: str = "the result", *, rtol: float | None = None, atol: float | None = None
) -> None:
    """Fail unless kind, shape, dtype, device and values are equal, compared in this order.

    As with `torch.testing.assert_close`, values are equal within the tolerance of their dtype. `assert_values` compares
    the values alone.

    Args:
        actual: the student's value.
        expected: the right value: a tensor, an array, a number, a string, or a list, tuple or dict of them.
        what: the name of `actual` in messages.
        rtol: relative tolerance, by default that of `torch.testing.assert_close` for the dtype.
        atol: absolute tolerance, likewise.

    Raises:
        CheckFailed: one of them differs.
    """
    if isinstance(expected, (Tensor, np.ndarray)):
        kind = Tensor if isinstance(expected, Tensor) else np.ndarray
        assert_of_kind(isinstance(actual, kind), actual, show.kind(expected), what)
        assert_shape(actual, expected, what)
        assert_dtype(actual, expected, what)
        if isinstance(expected, Tensor):
            assert_device(actual, facts(expected).device, what)
    else:
        assert_isinstance(actual, type(expected), what)
    assert_values(actual, expected, what, rtol=rtol, atol=atol)


def allclose(actual: Any, expected: Any, *, rtol: float | None = None, atol: float | None = None) -> bool:
    """Return whether `assert_values` would pass.

    Use this in a check that examines more only if two values are equal.

    Args:
        actual: the student's value.
        expected: the right value.
        rtol: relative tolerance, as for `assert_values`.
        atol: absolute tolerance.

    Returns:
        True or False; False also where the two cannot be compared.
    """
    try:
        assert_values(actual, expected, rtol=rtol, atol=atol)
    except CheckFailed:
        return False
    return True


def assert_values_unless_wrong_elsewhere(
    actual: Any,
    expected: Any,
    same: Callable[[], Any],
    other: Callable[[], Any],
    what: str = "the result",
    *,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Fail if a value is wrong only where this check's rule applies.

    For a rule that NaN counts as 0, `actual` is the student's sum of [1, nan], and `same` returns that of [1, 0]. Code
    that returns 2 for both breaks another rule, and the check of that rule fails.

    Args:
        actual: the student's value.
        expected: the right one.
        same: a callable that returns the student's value for an input with the same right value, to which the rule does
            not apply.
        other: a callable that returns the student's value for an input with another right value. Code that returns the
            same there, too, is constant, and breaks every rule.
        what: the name of `actual` in messages.
        rtol: relative tolerance, as for `assert_values`.
        atol: absolute tolerance.

    Raises:
        CheckFailed: the value is wrong, and `same` returns a right or a different value, or `other` returns an equal
            one; or the value is wrong and of another kind than the right one.
    """
    if allclose(actual, expected, rtol=rtol, atol=atol):
        return
    comparable = isinstance(actual, type(expected)) or (_is_numeric(actual) and _is_numeric(expected))
    wrong_alike = allclose(actual, same(), rtol=rtol, atol=atol) and not allclose(actual, other(), rtol=rtol, atol=atol)
    if not (comparable and wrong_alike):
        assert_values(actual, expected, what, rtol=rtol, atol=atol)


def as_number(value: Any, what: str = "the result") -> Any:
    """Return the only number in a value: in a tensor, an array, or a number itself.

    Use this in checks for which the kind of the value does not matter.

    Args:
        value: the student's value.
        what: its name in messages.

    Returns:
        An int, a float, a complex or a bool.

    Raises:
        CheckFailed: the value does not hold numbers, or does not hold exactly one.
    """
    assert_of_kind(_is_numeric(value), value, "a number", what)
    if (count := math.prod(_shape(value))) != 1:
        public = say("expected {} to hold one number", what)
        raise CheckFailed(public, f"{public}, got {count}")
    return value if isinstance(value, (int, float, complex)) else _as_tensor(value).item()


def as_tuples(value: Any) -> Any:
    """Return a value with its lists replaced by tuples, at every depth.

    `[1, [2, 3]]` becomes `(1, (2, 3))`. Use this in checks that accept both.

    Args:
        value: anything.
    """
    return tuple(as_tuples(item) for item in value) if isinstance(value, (list, tuple)) else value


def _assert_equal_items(actual: Any, expected: Any, what: str, rtol: float | None, atol: float | None) -> None:
    """Raise `CheckFailed` unless a list, tuple or dict has the expected items.

    `assert_values` compares the items.
    """
    wanted = expected if isinstance(expected, dict) else dict(enumerate(expected))
    # The plain kind: where a tuple is expected, a named tuple is right, too.
    kind = next(base for base in (list, tuple, dict) if isinstance(expected, base))
    assert_of_kind(isinstance(actual, kind), actual, show.with_article(kind.__name__), what)
    simple = not any(isinstance(item, (Tensor, np.ndarray)) for item in wanted.values())
    whole = unequal_failure(say("{} is not the expected value", what), show.show(expected), show.show(actual))
    if isinstance(expected, dict) and (missing := [key for key in expected if key not in actual]):
        keys = f"the key{'s' * (len(missing) > 1)} {', '.join(map(show.show, missing))}"
        raise CheckFailed(say("{} lacks {}", what, DictKey(missing[0])), f"{what} lacks {keys}")
    if len(actual) != len(expected):
        counts = f"expected {what} to have {len(expected)} items, got {len(actual)}"
        raise CheckFailed(say("{} has the wrong number of items", what), whole.story if simple else counts)
    for key, item in wanted.items():
        try:
            assert_values(actual[key], item, show.item_name(what, key), rtol=rtol, atol=atol)
        except CheckFailed as failed:
            raise (whole if simple else failed) from None


def _assert_near_numbers(actual: Any, expected: Any, what: str, rtol: float | None, atol: float | None) -> None:
    """Raise `CheckFailed` unless a number, array or tensor is close to the expected one.

    The shapes must be equal, and the elements within the tolerances.
    """
    if not _is_numeric(actual):
        is_number = isinstance(expected, (int, float, complex, np.generic))
        assert_of_kind(False, actual, "a number" if is_number else show.kind(expected, public=True), what)
    of_numpy = isinstance(actual, (np.ndarray, np.generic)), isinstance(expected, (np.ndarray, np.generic))
    if (isinstance(expected, Tensor) and of_numpy[0]) or (isinstance(actual, Tensor) and of_numpy[1]):
        assert_of_kind(False, actual, show.kind(expected, public=True), what)
    if isinstance(actual, (int, float)) and isinstance(expected, (int, float)) and actual == expected:
        return  # the common case of plain numbers, without making tensors of them
    if isinstance(actual, int) and actual.bit_length() >= sys.float_info.max_exp:  # no float is as large
        raise unequal_failure(say("{} has the wrong value", what), show.show(expected), show.show(actual))
    # PyTorch would broadcast here, and call a column equal to a row. Before anything is copied: a worker may say that a
    # few bytes are a large tensor.
    if _shape(actual) != _shape(expected):
        raise shape_failure(_shape(actual), _shape(expected), what)
    # Compared as tensors of one kind; the dtype has checks of its own.
    mine, wanted = _as_tensor(actual), _as_tensor(expected)
    if wanted.numel() == 0 or (mine.dtype == wanted.dtype == torch.float32 and torch.equal(mine, wanted)):
        return  # the common case, without copies in float64, which for large tensors take a second
    relative, absolute = _tolerance(mine.dtype, wanted.dtype)
    relative, absolute = relative if rtol is None else rtol, absolute if atol is None else atol
    wrong, error = _differences(mine, wanted, relative, absolute)
    if bool(wrong.any()):
        raise _values_failure(what, actual, expected, mine, wanted, wrong, error)


def _is_numeric(value: Any) -> bool:
    # bool is an int to Python, and is compared as what it is: True is not 1 here.
    kinds = (Tensor, np.ndarray, np.generic, int, float, complex)
    return isinstance(value, kinds) and not isinstance(value, bool) and not is_proxy(value)


def _shape(value: Any) -> tuple[int, ...]:
    return show.shape(value) if hasattr(type(value), "shape") else ()


def _differences(mine: Tensor, wanted: Tensor, rtol: float, atol: float) -> tuple[Tensor, Tensor]:
    """Return which elements are wrong, and by how much.

    For [1.0, 2.0] and the expected [1.0, 3.0] these are [False, True] and [0.0, 1.0]. Without a tolerance, integers are
    compared exactly.
    """
    if not _is_inexact(mine.dtype) and not _is_inexact(wanted.dtype):
        wrong = mine.to(torch.int64) != wanted.to(torch.int64)
        # int64 does not hold its upper half, where two numbers may become one. As floats they are apart.
        if torch.uint64 in (mine.dtype, wanted.dtype):
            wrong |= mine.double() != wanted.double()
        error = (mine.double() - wanted.double()).abs()
        if rtol or atol:  # of a check, as integers have none by default
            wrong &= ~(error <= atol + rtol * wanted.double().abs())
        return wrong, error
    # In float64, so that the comparison adds no rounding of its own.
    wide = torch.complex128 if mine.dtype.is_complex or wanted.dtype.is_complex else torch.float64
    a, b = mine.to(wide), wanted.to(wide)
    error = (a - b).abs()
    equal = (a == b) | (a.isnan() & b.isnan()) | (error <= atol + rtol * b.abs()) & b.isfinite() & a.isfinite()
    return ~equal, error


def _values_failure(
    what: str, actual: Any, expected: Any, mine: Tensor, wanted: Tensor, wrong: Tensor, error: Tensor
) -> CheckFailed:
    """Return the `CheckFailed` to raise for a value of which some elements are wrong.

    For example, "the result has the wrong values: 2 of 6 elements are wrong" begins the message of a shown check.

    Args:
        what: the name of the value in messages.
        actual: the student's value.
        expected: the right value.
        mine: the student's value as a tensor.
        wanted: the right value as a tensor.
        wrong: a bool tensor that is True where an element is wrong.
        error: the absolute difference of each element.
    """
    count, total = int(wrong.sum()), wrong.numel()
    nan = _is_inexact(mine.dtype) and bool((mine.isnan() & ~wanted.isnan()).any())
    reason = say("has the wrong value") if total == 1 else say("has the wrong values")
    public = say("{} {}", what, say("has NaN where a number is expected") if nan else reason)
    # The answer chooses how many are wrong, so only a shown check says it.
    head = f"{public}: {count} of {total} elements {'is' if count == 1 else 'are'} wrong" if total > 1 else str(public)
    if total <= show.WHOLE:
        return unequal_failure(
            public, show.show(expected), show.show(actual), "", show.grid_picture(wanted, mine, wrong), head
        )
    first = tuple(int(i) for i in wrong.nonzero()[0])
    right, got = (show.number_text(each[first].item(), 6) for each in (wanted, mine))
    lines = [head, f"first at {list(first)}: expected {right}, got {got}"]
    finite = torch.where(wrong & error.isfinite(), error, -1.0)
    worst = np.unravel_index(int(finite.argmax()), tuple(wrong.shape))
    if float(finite.max()) >= 0:
        lines.append(f"the largest difference is {float(finite.max()):.3g}, at {[int(i) for i in worst]}")
    return CheckFailed(public, "\n".join(lines), picture=show.grid_picture(wanted, mine, wrong))


def _as_tensor(value: Any) -> Tensor:
    if isinstance(value, Tensor):
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
    """Return (rtol, atol) for the comparison of a value with the expected value.

    They are those of the dtype, of the two, with the larger tolerances: (1.3e-6, 1e-5) for a float32 value where
    float64 is expected. So this answer loses the points of its dtype, and not those of its values as well. The
    student's dtype adds at most the tolerances of float32, as float8 has steps of an eighth and more.

    Args:
        mine: the dtype of the student's value.
        wanted: the dtype of the expected value.
    """
    return max(_tolerance_of_dtype(wanted), min(_tolerance_of_dtype(mine), _TOLERANCES[torch.float32]))


def _tolerance_of_dtype(dtype: torch.dtype) -> tuple[float, float]:
    if not _is_inexact(dtype):
        return 0.0, 0.0
    if dtype in _TOLERANCES:
        return _TOLERANCES[dtype]
    limits = torch.finfo(dtype)
    return limits.eps, limits.smallest_normal


def _is_inexact(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


# -- memory ------------------------------------------------------------------------------------------------------------

_PATTERN = 113
"""So many different numbers are written; each fits into every dtype."""


def shares_memory(one: Any, other: Any) -> bool:
    """Return whether the memory of two tensors or arrays overlaps.

    The memory of a tensor is its whole storage: two tensors on one storage share it, even if they have no common
    element. The memory of an array reaches from its first element to its last.

    Args:
        one: a tensor or an array.
        other: a tensor or an array.

    Returns:
        True or False; False where one of them has no bytes.
    """
    # Addresses compare well: what shared memory in the worker shares it here, as the wire sends a storage once.
    (start, end), (other_start, other_end) = address_range(one), address_range(other)
    return start < end and start < other_end and other_start < end


def _assert_layout(condition: bool, public: str, actual: Any, base: Any, names: tuple[str, str]) -> None:
    """Raise `CheckFailed` unless a condition on two values in memory holds.

    The failure shows a picture of both values in their storages.

    Args:
        condition: the condition that must hold.
        public: the sentence on what is wrong, which a hidden check may show.
        actual: the student's value.
        base: the value that it is compared with.
        names: the names of `actual` and `base` in the picture.
    """
    if not condition:
        raise CheckFailed(public, picture=show.views_picture({names[1]: base, names[0]: actual}))


def assert_shares_memory(actual: Any, base: Any, what: str = "the result", base_name: str = "the argument") -> None:
    """Fail unless a value shares memory with another: a view, not a copy.

    Args:
        actual: the student's tensor or array.
        base: the tensor or array in whose storage it must lie.
        what: the name of `actual` in messages.
        base_name: the name of `base` in messages.

    Raises:
        CheckFailed: it is a copy, or it has no memory.
    """
    assert_has_shape(actual, what)
    public = say("{} is a copy; it must share memory with {}", what, base_name)
    _assert_layout(shares_memory(actual, base), public, actual, base, (what, base_name))


def assert_shares_no_memory(actual: Any, base: Any, what: str = "the result", base_name: str = "the argument") -> None:
    """Fail if a value shares memory with another: it must have its own.

    Args:
        actual: the student's tensor or array.
        base: a tensor or an array.
        what: the name of `actual` in messages.
        base_name: the name of `base` in messages.

    Raises:
        CheckFailed: the two share memory, or `actual` is neither a tensor nor an array.
    """
    assert_has_shape(actual, what)
    public = say("{} shares memory with {}; it must have its own", what, base_name)
    _assert_layout(not shares_memory(actual, base), public, actual, base, (what, base_name))


def assert_writes_show(actual: Any, base: Any, what: str = "the result", base_name: str = "the argument") -> None:
    """Fail unless a write to either of two values is visible in the other.

    The two must alias each other element by element.

    Args:
        actual: a tensor or an array.
        base: the tensor or array that it must alias. Both are overwritten with small whole numbers.
        what: the name of `actual` in messages.
        base_name: the name of `base` in messages.

    Raises:
        CheckFailed: the shapes differ, `actual` is read-only, or a write does not show.
    """
    assert_shape(actual, base, what)
    writable = not isinstance(actual, np.ndarray) or actual.flags.writeable
    assert_true(writable, say("{} is read-only; a write to it must show in {}", what, base_name))
    note_arguments_examined()
    one_memory = shares_memory(actual, base)
    for target, seen, names in ((base, actual, (base_name, what)), (actual, base, (what, base_name))):
        # Twice, as one of the patterns may be what is there already.
        for first in (1, 0):
            pattern = ((np.arange(math.prod(base.shape)) + first) % _PATTERN).reshape(base.shape)
            target[...] = torch.from_numpy(pattern) if isinstance(target, torch.Tensor) else pattern
            # One may be an array, and the other a tensor.
            shows = allclose(_as_tensor(seen), _as_tensor(copies(target)[0]), rtol=0.0, atol=0.0)
            elsewhere = say("a write to {} does not show at the same place in {}", *names)
            copy = say("a write to {} does not show in {}: {} is a copy", *names, what)
            _assert_layout(shows, elsewhere if one_memory else copy, actual, base, (what, base_name))


def assert_view(actual: Any, base: torch.Tensor, what: str = "the result", base_name: str = "the argument") -> None:
    """Fail unless a tensor is a view of another: in its storage, and within its elements.

    Args:
        actual: the student's tensor.
        base: the tensor that it must be a view of.
        what: the name of `actual` in messages.
        base_name: the name of `base` in messages.

    Raises:
        CheckFailed: it is not a tensor, is a copy, or reaches beyond the elements of `base`.
    """
    assert_tensor(actual, what)
    assert_shares_memory(actual, base, what, base_name)
    inside = _span_of(base)[0] <= _span_of(actual)[0] and _span_of(actual)[1] <= _span_of(base)[1]
    _assert_layout(inside, say("{} reaches beyond {} in memory", what, base_name), actual, base, (what, base_name))


@contextmanager
def assert_unchanged(*values: Any, what: str = "the argument") -> Iterator[None]:
    """Fail if the code in the `with` block changes one of the values.

    Numbers, shape, strides and dtype must stay, and nothing may be written in place, not even for a moment.

    Args:
        *values: tensors, arrays, numbers, and lists, tuples or dicts of them.
        what: the name of the values in messages.

    Yields:
        Nothing.

    Raises:
        CheckFailed: a value was changed, or a tensor was written to in place with equal numbers. The worker counts the
            writes, and its count is untrusted.
    """
    what = say("`{}`", what) if what.isidentifier() else what
    # Copied together, so that values which share memory still do, and shapes and strides stay.
    before = copies(*values)
    note_arguments_examined()
    layouts = [_shape_strides_dtype(value) for value in values]
    versions = [facts(value).version if isinstance(value, torch.Tensor) else 0 for value in values]
    yield
    for value, old, layout, version in zip(values, before, layouts, versions, strict=True):
        if _shape_strides_dtype(value) != layout:
            raise CheckFailed(say("{} was changed: its shape, strides or dtype differs now", what))
        if not _is_same(value, old):
            public = say("{} was changed", what)
            story = show.expected_and_got(public, show.show(old), show.show(value), "before", "after")
            raise CheckFailed(public, story)
        # Written and written back leaves equal numbers. The worker counts writes in place, which is untrusted, so it is
        # the last thing that is compared.
        written = facts(value).version if isinstance(value, torch.Tensor) else 0
        assert_true(written <= version, say("{} was written to in place, although its numbers are the same now", what))


def assert_in_place(actual: Any, argument: torch.Tensor, what: str = "the result") -> None:
    """Fail unless a call changed its argument in place and returned that argument.

    Args:
        actual: the value that the call returned.
        argument: the tensor that the call was given.
        what: the name of `actual` in messages.

    Raises:
        CheckFailed: `actual` is another object, or the worker says that the argument was never written to.
    """
    note_arguments_examined()
    assert_true(actual is argument, say("{} is not the argument itself; change it in place and return it", what))
    assert_true(facts(argument).version > 0, say("the argument was not changed in place"))


def copies(*values: Any) -> tuple[Any, ...]:
    """Return deep copies of values, with which a check compares what a call changes.

    Copies share memory with each other where the values do.

    Args:
        *values: tensors, arrays, numbers, and lists, tuples or dicts of them. A proxy of an object in a worker is
            returned as it is.

    Returns:
        A tuple with one copy for each value.

    Raises:
        Unsupported: a value cannot be sent to a worker, and so is not copied either.
    """
    proxies: list[Any] = []

    def stay(value: Any) -> list[Any]:
        if not is_proxy(value):
            raise Unsupported(f"an object of type {type(value).__name__} cannot be sent to student code, nor copied")
        proxies.append(value)
        return ["proxy", len(proxies) - 1]

    return tuple(encode_call(values, stay).values())


def after_call(argument: Any) -> Any:
    """Return an argument, and record that the check examines how student code changed it.

    Without this, a check that compares an argument that student code changed is run once more with copies.

    Args:
        argument: an argument of an earlier call.

    Returns:
        The same object.
    """
    note_arguments_examined()
    return argument


def _shape_strides_dtype(value: Any) -> Any:
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return show.shape(value), layout_of(value)[0], show.dtype(value)
    return type(value)


def _span_of(value: torch.Tensor) -> tuple[int, int]:
    """Return the addresses at which the elements of a tensor begin and end in memory."""
    start = int(value.untyped_storage().data_ptr() + value.storage_offset() * value.itemsize)
    strides = [stride * value.itemsize for stride in value.stride()]
    return byte_range(start, tuple(value.shape), strides, value.itemsize)


def _is_same(value: Any, old: Any) -> bool:
    """Return whether a value is equal to an earlier copy of it.

    Tensors, arrays and floats are compared bit by bit.
    """
    if type(value) is not type(old):
        return False
    if isinstance(value, torch.Tensor):
        return _bytes_of(value) == _bytes_of(old)
    if isinstance(value, np.ndarray):
        return bool(value.tobytes() == old.tobytes())
    if isinstance(value, (list, tuple)):
        return len(value) == len(old) and all(_is_same(a, b) for a, b in zip(value, old, strict=True))
    if isinstance(value, dict):
        return value.keys() == old.keys() and all(_is_same(value[key], old[key]) for key in value)
    # As text, a float is what it is: NaN stays NaN, and -0.0 is not 0.0.
    return repr(value) == repr(old) if isinstance(value, (float, complex)) else bool(value == old)


def _bytes_of(value: torch.Tensor) -> bytes:
    # Bit for bit: NaN is not equal to itself, and -0.0 is equal to 0.0.
    plain = value.detach().resolve_conj().resolve_neg().contiguous().flatten()
    return bytes(plain.view(torch.uint8).numpy().tobytes()) if plain.numel() else b""
