"""Values without identity, as JSON: numbers, text, bytes, dtypes, devices, sizes. Others are rows of a table.

None, bool, int, float and str stand for themselves; all other values are a list that begins with a tag.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import torch

from grader.wire.bounds import ProtocolError, expect, is_index
from grader.wire.memory import LIMIT, MOST_DIMS

PLAIN: set[type] = {type(None), bool, int, float, str}
TAGGED = (complex, bytes, type(...), torch.Size, torch.dtype, torch.device, np.dtype, np.generic)

_TENSOR_DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in _TENSOR_DTYPES if hasattr(torch, name)}
"""The dtypes of tensors that can be sent, by name."""
NAMES: dict[torch.dtype, str] = {dtype: name for name, dtype in DTYPES.items()}
_ALL_DTYPES = {name: value for name, value in vars(torch).items() if isinstance(value, torch.dtype)}

with warnings.catch_warnings(action="ignore"):  # PyTorch warns once that it is experimental: now, not during a check
    torch.empty(0, dtype=torch.complex32)

# Numbers of a fixed size only: neither objects, whose bytes are addresses, nor text, dates or records.
ARRAY_DTYPE = re.compile(r"[<>|][biufc][0-9]{1,2}")
_DEVICE = re.compile(r"[a-z]{1,20}")


def to_plain(value: Any) -> list[Any] | None:
    """A value without identity as a tagged list; None for any other value."""
    kind = type(value)
    if kind is complex:
        return ["complex", value.real, value.imag]
    if kind is bytes:
        return ["bytes", value.decode("latin-1")]
    if value is Ellipsis:
        return ["Ellipsis"]
    if kind is torch.Size:
        return ["Size", *value]
    if kind is torch.dtype:
        return ["dtype", str(value).removeprefix("torch.")]
    if kind is torch.device:
        return ["device", value.type, value.index]
    if isinstance(value, np.dtype) and ARRAY_DTYPE.fullmatch(value.str):
        return ["numpy.dtype", value.str]
    if isinstance(value, np.generic) and ARRAY_DTYPE.fullmatch(value.dtype.str):
        return ["numpy.scalar", value.dtype.str, value.tobytes().decode("latin-1")]
    return None


def from_plain(tag: Any, *rest: Any) -> Any:
    """The value of a tagged list.

    Raises:
        ProtocolError: there is no such value.
    """
    try:
        return _from_plain(tag, *rest)
    except (TypeError, ValueError, LookupError, RuntimeError, OverflowError, AttributeError):
        raise ProtocolError(f"invalid {str(tag)[:20]}") from None


def _from_plain(tag: Any, *rest: Any) -> Any:
    if tag == "complex":
        real, imag = rest
        expect(type(real) is type(imag) is float, "invalid complex")
        return complex(real, imag)
    if tag == "bytes":
        (text,) = rest
        return text.encode("latin-1")
    if tag == "Ellipsis":
        return ...
    if tag == "Size":
        expect(len(rest) <= MOST_DIMS and all(is_index(size, LIMIT) for size in rest), "invalid size")
        return torch.Size(rest)
    if tag == "dtype":
        return _ALL_DTYPES[rest[0]]
    if tag == "device":
        name, index = rest
        expect(_DEVICE.fullmatch(name) and (index is None or is_index(index, 128)), "invalid device")
        return torch.device(name) if index is None else torch.device(name, index)
    if tag == "numpy.dtype":
        return array_dtype(*rest)
    expect(tag == "numpy.scalar", "unknown tag")
    dtype, data = array_dtype(rest[0]), rest[1].encode("latin-1")
    expect(len(data) == dtype.itemsize and (dtype.char != "?" or data[0] < 2), "invalid scalar")
    return np.frombuffer(data, dtype)[0]


def array_dtype(name: Any) -> np.dtype[Any]:
    """The dtype of a name such as "<f4".

    Raises:
        ProtocolError: it has none that can be sent.
    """
    # NumPy warns of some names and evaluates others, so it sees only those of this form.
    expect(type(name) is str and ARRAY_DTYPE.fullmatch(name), "unknown dtype of an array")
    try:
        dtype: np.dtype[Any] = np.dtype(name)
    except TypeError:
        raise ProtocolError("unknown dtype of an array") from None
    expect(dtype.str == name, "a dtype of an array by another name")  # such as "<b1", which is a bool
    return dtype
