"""The dtypes of tensors and arrays, and the tags of values of PyTorch and NumPy: dtypes, devices, sizes, scalars."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from grader.wire.frames import ProtocolError, expect, is_index
from grader.wire.memory import MOST_DIMS
from grader.wire.plain import KINDS, TaggedType, Tags
from grader.wire.table import LIMIT

_TENSOR_DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex32", "bcomplex32", "complex64", "complex128"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in _TENSOR_DTYPES if hasattr(torch, name)}
"""The dtypes of tensors that can be sent, by name."""
NAMES: dict[torch.dtype, str] = {dtype: name for name, dtype in DTYPES.items()}
_ALL_DTYPES = {name: value for name, value in vars(torch).items() if isinstance(value, torch.dtype)}

with warnings.catch_warnings(action="ignore"):  # PyTorch warns once that they are experimental: now, not during a check
    for _name in ("complex32", "bcomplex32"):  # the second one: since PyTorch 2.14, for bfloat16 beside complex numbers
        if _name in DTYPES:
            torch.empty(0, dtype=DTYPES[_name])

# Numbers of a fixed size only: neither objects, whose bytes are addresses, nor text, dates or records.
ARRAY_DTYPE = re.compile(r"[<>|][biufc][0-9]{1,2}")
_DEVICE = re.compile(r"[a-z]{1,20}")


def array_dtype(name: Any) -> np.dtype[Any]:
    """Return the NumPy dtype with a name such as "<f4".

    Raises:
        ProtocolError: there is no dtype of that name which can be sent.
    """
    # NumPy warns of some names and evaluates others, so it sees only those of this form.
    expect(type(name) is str and ARRAY_DTYPE.fullmatch(name), "unknown dtype of an array")
    try:
        dtype: np.dtype[Any] = np.dtype(name)
    except TypeError:
        raise ProtocolError("unknown dtype of an array") from None
    expect(dtype.str == name, "a dtype of an array by another name")  # such as "<b1", which is a bool
    return dtype


def _size(*sizes: Any) -> torch.Size:
    expect(len(sizes) <= MOST_DIMS and all(is_index(size, LIMIT) for size in sizes), "invalid size")
    return torch.Size(sizes)


def _device(name: Any, index: Any) -> torch.device:
    expect(_DEVICE.fullmatch(name) and (index is None or is_index(index, 128)), "invalid device")
    return torch.device(name) if index is None else torch.device(name, index)


def _scalar(name: Any, text: Any) -> np.generic:
    dtype, data = array_dtype(name), text.encode("latin-1")
    expect(len(data) == dtype.itemsize and (dtype.char != "?" or data[0] < 2), "invalid scalar")
    scalar: np.generic = np.frombuffer(data, dtype)[0]
    return scalar


_KINDS: Mapping[type, TaggedType] = {
    **KINDS,
    torch.Size: TaggedType("Size", list, _size),
    torch.dtype: TaggedType("dtype", lambda value: [str(value).removeprefix("torch.")], lambda name: _ALL_DTYPES[name]),
    torch.device: TaggedType("device", lambda value: [value.type, value.index], _device),
    np.dtype: TaggedType("numpy.dtype", lambda value: [value.str], array_dtype),
    np.generic: TaggedType("numpy.scalar", lambda value: [value.dtype.str, value.tobytes().decode("latin-1")], _scalar),
}


class _AllTags(Tags):
    def kind_of(self, value: Any) -> type | None:
        """Return the type whose tag a value gets in a message; None for a value without a tag.

        For `np.dtype("<f4")` it is `np.dtype`, and for `np.float32(1)` it is `np.generic`, as each dtype and each kind
        of scalar has a class of its own.
        """
        kind = next((each for each in (np.dtype, np.generic) if isinstance(value, each)), type(value))
        dtype: Any = value if kind is np.dtype else value.dtype if kind is np.generic else None
        return kind if kind in _KINDS and (dtype is None or ARRAY_DTYPE.fullmatch(dtype.str)) else None


TAGS = _AllTags(_KINDS)
