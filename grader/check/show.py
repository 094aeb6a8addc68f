"""Values in messages: as text, small ones whole and large ones by their shape and dtype (ASCII only), and as pictures.

A picture is drawn elsewhere, from the facts that are collected here; what is too large to be drawn has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NoReturn

import numpy as np
import torch

from grader.connection.connection import is_proxy, kind_of
from grader.model.picture import Grid, Moment, NamedShape, Picture, Shapes, View
from grader.wire.dtypes import DTYPES
from grader.wire.facts import device_of

DEVICES = ("cpu", "meta", *(f"{kind}{index}" for kind in ("sim", "cuda", "mps", "xpu") for index in ("", ":0", ":1")))
"""Devices that a public text may name."""

TYPES = ("bool", "int", "float", "complex", "str", "bytes", "list", "tuple", "dict", "set", "frozenset")
"""Types of plain values."""

KINDS = (
    *(f"{'an' if name == 'int' else 'a'} {name}" for name in TYPES),
    *("a tensor", "a NumPy array", "a NumPy number", "a number", "a device", "a dtype"),
    *("None (is a `return` missing?)", "some other object"),
)
"""What a public text may say that a value is."""

WHOLE = 20
"""Tensors and arrays of up to this many elements are shown whole."""

_LINE = 300


def show(value: Any) -> str:
    """Return a value as text for a message.

    A small value is shown whole, as "tensor([1, 2])", and a large tensor as "a tensor of shape (100, 3), float32".

    Args:
        value: anything.
    """
    if is_proxy(value):
        return kind(value)
    if isinstance(value, torch.Tensor):
        return _tensor_text(value) if value.numel() <= WHOLE else f"a tensor of shape {shape(value)}, {dtype(value)}"
    if isinstance(value, np.ndarray):
        return _array_text(value) if value.size <= WHOLE else f"an array of shape {shape(value)}, {dtype(value)}"
    if isinstance(value, (tuple, list)) and len(value) <= WHOLE:
        return _sequence_text(value, map(show, value))
    if isinstance(value, dict) and len(value) <= WHOLE:
        return "{" + ", ".join(f"{show(key)}: {show(item)}" for key, item in value.items()) + "}"
    try:
        text = ascii(value)
    except ValueError:  # Python writes no int of more than 4300 digits
        return f"an int of {value.bit_length()} bits" if isinstance(value, int) else "an object with a very large int"
    return text if len(text) <= _LINE else f"{text[:_LINE]} ... ({len(text)} characters)"


def _sequence_text(value: tuple[Any, ...] | list[Any], texts: Iterable[str]) -> str:
    inside = ", ".join(texts)
    return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"


def _tensor_text(value: torch.Tensor) -> str:
    # On one line: PyTorch breaks and aligns its own lines, which a message would break again.
    text = " ".join(repr(value.detach().resolve_conj().resolve_neg()).split())
    plain = value.dtype in (torch.float32, torch.int64, torch.bool, torch.complex64)
    return text if "dtype=" in text or plain else f"{text[:-1]}, dtype={value.dtype})"


def _array_text(value: np.ndarray[Any, Any]) -> str:
    text = " ".join(repr(value).split())
    return text if "dtype=" in text else f"{text[:-1]}, dtype={value.dtype})"


def shape(value: Any) -> tuple[int, ...]:
    """Return the shape of a value as a tuple of ints.

    The tuple prints shorter than a `torch.Size`.

    Args:
        value: a tensor, an array or a NumPy number.
    """
    return tuple(value.shape)


def dtype(value: Any, *, public: bool = False) -> str:
    """Return the dtype's short name, such as "float32".

    Args:
        value: a tensor, an array or a NumPy number.
        public: True if "another dtype" is returned for an unknown name, such as a name with another byte order.
    """
    name = str(value.dtype).removeprefix("torch.")
    return name if not public or name in DTYPES else "another dtype"


_CALL = "a function (are its `()` missing?)"
_OF_PROXIES = {
    **dict.fromkeys(("function", "method", "builtin_function_or_method"), _CALL),
    "Tensor": "a tensor that the grader cannot read (it is sparse, or on a device such as meta)",
    "_TensorMeta": "the class torch.Tensor",
}
"""Objects that stay in a worker, in words, where the name of their class does not explain them."""


def kind(value: Any, *, public: bool = False) -> str:
    """Return what a value is, in words for a message, such as "a tensor".

    Args:
        value: anything.
        public: True if free text of a worker is left out, such as the name of a student's class.
    """
    if is_proxy(value):
        name = kind_of(value)
        return "some other object" if public else _OF_PROXIES.get(name, with_article(name))
    if isinstance(value, torch.Tensor):
        return "a tensor"
    if isinstance(value, np.ndarray):
        return "a NumPy array"
    if isinstance(value, np.generic) and public:
        return "a NumPy number"
    if value is None:
        return "None (is a `return` missing?)"
    name = with_article(type(value).__name__)
    return name if not public or name in KINDS else "some other object"


def item_name(what: str, key: object) -> str:
    """Return the name of an item in messages: "x[0]", or "item 0 of the result".

    Args:
        what: the name of the whole value in messages: code such as "x", or a phrase such as "the result".
        key: the key of the item.
    """
    is_code = " " not in what or what.endswith((")", "]"))
    return f"{what}[{key!r}]" if is_code else f"item {key!r} of {what}"


def expected_and_got(head: str, expected: Any, actual: Any, first: str = "expected", second: str = "got") -> str:
    """Return a message of three lines: a head, the expected value, and the actual value.

    Args:
        head: the first line.
        expected: the right value, as text.
        actual: the student's.
        first: the word before the expected value.
        second: the word before the actual one.
    """
    width = max(len(first), len(second)) + 2
    return f"{head}\n{first:<{width}}{expected}\n{second:<{width}}{actual}"


def number_text(number: Any, digits: int) -> str:
    """Return one number as text; a float with few digits.

    With 3 digits, 0.12345 becomes "0.123".

    Args:
        number: an int, a float or a bool.
        digits: the number of digits of a float.
    """
    return f"{number:.{digits}g}" if isinstance(number, float) else str(number)


def with_article(name: str) -> str:
    """Return a name with "a" or "an" before it.

    Args:
        name: a name such as "int".
    """
    return f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"


def as_source(value: Any, view_source: Callable[[torch.Tensor], str] = lambda tensor: "") -> str:
    """Return a Python expression that makes an equal value.

    For `tensor([1, 2])` it is "torch.tensor([1, 2], dtype=torch.int64)". The expression for a transposed matrix keeps
    the strides, too.

    Args:
        value: anything.
        view_source: a function that returns the expression for a tensor that views a named storage, and "" for others.

    Raises:
        ValueError: the value has no short Python expression.
    """
    if isinstance(value, torch.Tensor):
        text = view_source(value) or (_tensor_source(value.detach()) if value.numel() <= WHOLE else "")
        return _source_with_device(value, text) if text else _raise_too_long(value)
    if isinstance(value, np.ndarray):
        return _array_source(value) if value.size <= WHOLE else _raise_too_long(value)
    if isinstance(value, (list, tuple)):
        return _sequence_text(value, (as_source(item, view_source) for item in value))
    if isinstance(value, dict):
        return "{" + ", ".join(f"{as_source(key)}: {as_source(item, view_source)}" for key, item in value.items()) + "}"
    if isinstance(value, float) and not np.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name}({value.item()!r})"
    if isinstance(value, np.dtype):
        return f"np.dtype({value.str!r})"
    if isinstance(value, torch.device):
        return f"torch.device({str(value)!r})"
    # `<...>` is what objects are called that no text makes again; a path is gone when the check has ended.
    text = repr(value)
    return _raise_too_long(value) if len(text) > _LINE or text.startswith("<") or isinstance(value, PurePath) else text


def _raise_too_long(value: Any) -> NoReturn:
    raise ValueError(f"this {type(value).__name__} has no short Python expression")


def _source_with_device(value: torch.Tensor, text: str) -> str:
    """Return an expression for a tensor, with its device and `requires_grad`.

    `text` is the expression for the elements, to which calls are appended.
    """
    text += f'.to("{device_of(value)}")' if device_of(value) != "cpu" else ""
    return f"{text}.requires_grad_()" if value.requires_grad else text


def _array_source(value: np.ndarray[Any, Any]) -> str:
    # Written by its transpose, so that the array that a student makes has the same strides.
    if value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous:
        return f"{_array_source(value.T)}.T"
    numbers = _floats_source(_shortest_floats(value)) if value.dtype.kind == "f" else repr(value.tolist())
    return f"np.array({numbers}, dtype={value.dtype.str!r})"


def _tensor_source(value: torch.Tensor) -> str:
    if value.numel() == 0:
        return f"torch.empty({shape(value)}, dtype={value.dtype})"
    plain = value.resolve_conj().resolve_neg()
    if plain.dim() == 2 and not plain.is_contiguous() and plain.T.is_contiguous():
        return f"{_tensor_source(plain.T)}.T"
    if text := _filled_source(plain):
        return text
    has_numpy = plain.dtype in (torch.float32, torch.float16)
    floats = _shortest_floats(plain.cpu().numpy()) if has_numpy else plain.tolist()
    numbers = _floats_source(floats) if plain.dtype.is_floating_point else str(plain.tolist())
    return f"torch.tensor({numbers}, dtype={value.dtype})"


def _filled_source(value: torch.Tensor) -> str:
    """Return a call of `torch.zeros` or `torch.ones` that makes a tensor, or "".

    An example is "torch.zeros(2, 3, dtype=torch.float32)". Return "" if the tensor has other numbers, is small or
    complex, or has fewer than two dims.
    """
    if value.dim() < 2 or value.numel() < _LEAST_FILLED or value.is_complex():
        return ""
    for name, number in (("zeros", 0), ("ones", 1)):
        if bool((value == number).all()) and not (number == 0 and bool(value.signbit().any())):
            return f"torch.{name}({', '.join(map(str, value.shape))}, dtype={value.dtype})"
    return ""


def _shortest_floats(array: np.ndarray[Any, Any]) -> Any:
    """Return the floats of an array as nested lists, with as few digits as possible.

    The digits are those that the dtype needs: 0.1 in float32 is 0.1.
    """
    short = np.array([float(str(number)) for number in array.ravel()], dtype=np.float64).reshape(array.shape)
    # Digits that are read as float64 and rounded again may give the neighbour, in rare cases.
    return (short if np.array_equal(short.astype(array.dtype), array, equal_nan=True) else array).tolist()


def _floats_source(floats: Any) -> str:
    """Return nested lists of floats as Python source, with `float('nan')` and `float('inf')`."""
    return str(floats).replace("nan", "float('nan')").replace("inf", "float('inf')")


_LEAST_FILLED = 6
"""So many equal numbers are longer than the call that makes them."""


_TIMELINE = 68
"""Characters in a line of a timeline."""


def timeline_of(moments: Sequence[Moment], left_out: int) -> str:
    """Return a timeline, as text, of the first moments of a call.

    The timeline shows what the host and simulated devices did.

    Args:
        moments: the first things that took virtual time.
        left_out: the number of moments that are not drawn.
    """
    from grader.accelerator.timeline import shift_spans, timeline  # for a message only

    # The virtual clock has run since earlier calls; a message begins at 0.
    spans = shift_spans(moments, -moments[0].start)
    return timeline(spans, width=_TIMELINE) + (f"\n{left_out:,} more follow" if left_out > 0 else "")


_MOST_COLUMNS = 8
_MOST_ROWS = 8
_MOST_ELEMENTS = 1024
_MOST_DIMS = 4
_WIDEST = 40


def grid_picture(expected: torch.Tensor, actual: torch.Tensor, wrong: torch.Tensor) -> Picture | None:
    """Return a picture of expected and actual values side by side, or None.

    Return None unless the values are a vector or a matrix with at least two elements that is small enough to draw.

    Args:
        expected: the right values.
        actual: the student's, of the same shape.
        wrong: a bool tensor of the same shape: whether they differ.
    """
    if expected.dim() not in (1, 2) or expected.numel() < 2:
        return None
    (*rows, columns) = expected.shape
    if columns > _MOST_COLUMNS or math.prod(rows) > _MOST_ROWS:
        return None
    tables = [value.reshape(-1, columns).tolist() for value in (expected, actual, wrong)]
    first, second = (tuple(tuple(number_text(cell, 4) for cell in row) for row in table) for table in tables[:2])
    if any(len(cell) > _WIDEST // columns for row in (*first, *second) for cell in row):
        return None
    return Picture(grid=Grid(first, second, tuple(map(tuple, tables[2])), expected.dim()))


def views_picture(named: Mapping[str, Any]) -> Picture | None:
    """Return the picture of tensors as views of their storages, or None.

    `named` is such as `{"expected": x, "got": y}`. Return None if a value is not a strided tensor, is empty, or is too
    large to draw.
    """
    drawn = []
    memories: dict[int, int] = {}
    for name, value in named.items():
        if not isinstance(value, torch.Tensor) or is_proxy(value) or value.layout is not torch.strided:
            return None
        if not 1 <= value.dim() <= _MOST_DIMS or not 0 < value.numel() <= _MOST_ELEMENTS:
            return None
        storage = value.untyped_storage()
        memory = memories.setdefault(storage.data_ptr(), len(memories))
        size = storage.nbytes() // value.itemsize
        drawn.append(View(name, tuple(value.shape), tuple(value.stride()), int(value.storage_offset()), size, memory))
    return Picture(views=tuple(drawn))


def shapes_picture(expected: tuple[int, ...], actual: tuple[int, ...]) -> Picture | None:
    """Return the picture of two shapes that must be equal, one below the other, or None.

    Return None if a shape has no dims or very many.
    """
    if not expected or not actual or max(len(expected), len(actual)) > 2 * _MOST_DIMS:
        return None
    return Picture(shapes=Shapes((NamedShape("expected", expected), NamedShape("got", actual))))
