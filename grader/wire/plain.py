"""Values that have a name or a few parts (dtypes, devices, scalars, bytes) and text, as JSON; and back."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import torch

from grader.wire.bounds import ProtocolFault
from grader.wire.describe import DTYPES, NAMES, array_dtype
from grader.wire.tree import Plain

MAX_INT_DIGITS = 1 << 16
# PyTorch warns of some other kinds, and is not asked about any text at all.
_KINDS = "cpu|cuda|meta|mps|xpu|xla|hpu|mtia|hip|ipu|ve|vulkan|lazy|maia|privateuseone|sim"
_DEVICE = re.compile(rf"({_KINDS})(:[0-9]{{1,3}})?")
_TORCH_CONSTANTS = {
    str(constant): constant
    for constant in (torch.strided, torch.contiguous_format, torch.preserve_format, torch.channels_last)
}


def plain_constant(obj: object) -> list[Plain] | None:
    """What is neither a number nor a container, but has a name or a few parts."""
    # As bytes: exact for every dtype, and for every NaN.
    if isinstance(obj, np.generic):
        return ["scalar", obj.dtype.str, obj.tobytes().hex()] if obj.dtype.kind in "biufc" else None
    if isinstance(obj, complex):
        return ["complex", obj.real, obj.imag]
    if isinstance(obj, (bytes, bytearray)):
        return ["bytes", bytes(obj).decode("latin-1")]
    if isinstance(obj, torch.dtype):
        return ["dtype", NAMES[obj]] if obj in NAMES else None
    if isinstance(obj, torch.device):
        return ["device", str(obj)] if _DEVICE.fullmatch(str(obj)) else None
    if isinstance(obj, np.dtype):
        return ["array_dtype", obj.str] if obj.kind in "biufc" else None
    if obj is Ellipsis:
        return ["ellipsis"]
    if isinstance(obj, (torch.layout, torch.memory_format)) and str(obj) in _TORCH_CONSTANTS:
        return ["torch", str(obj)]
    return None


def plain_text(text: str) -> Plain:
    """A str as it is, unless JSON would join two of its surrogates into one character."""
    # JSON writes surrogates one by one and joins a pair when it reads. Two that stood apart here would be one there.
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        return ["text", text.encode("utf-8", "surrogatepass").decode("latin-1")]
    return text


def constant(item: list[Plain]) -> Any:  # noqa: C901  one table, a row for each kind
    """The inverse of `plain_constant`."""
    # What a pattern lets through may still be refused by what it is given to, in one of a few ways. All are faults.
    try:
        match item:
            case ["int", str(digits)] if len(digits) <= MAX_INT_DIGITS + 3:
                return int(digits, 16)
            case ["text", str(text)]:
                return text.encode("latin-1").decode("utf-8", "surrogatepass")
            case ["scalar", name, str(digits)] if len(digits) <= 64:
                dtype = array_dtype(name)
                raw = bytes.fromhex(digits)
                if len(raw) == dtype.itemsize:
                    return np.frombuffer(raw, dtype)[0]
            case ["complex", float(real), float(imag)]:
                return complex(real, imag)
            case ["bytes", str(text)]:
                return text.encode("latin-1")
            case ["dtype", str(name)]:
                return DTYPES[name]
            case ["device", str(name)] if _DEVICE.fullmatch(name):
                return torch.device(name)
            case ["array_dtype", name]:
                return array_dtype(name)
            case ["ellipsis"]:
                return Ellipsis
            case ["torch", str(name)]:
                return _TORCH_CONSTANTS[name]
    except (ValueError, TypeError, KeyError, RuntimeError):
        pass
    raise ProtocolFault("a value of an unknown form")
