"""Tensors and arrays as plain descriptions, and back. What arrives is checked for bounds before memory is touched."""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from grader.wire.blocks import Block, array_bounds, span
from grader.wire.devices import device_of, plain
from grader.wire.frames import ProtocolFault

_DTYPE_NAMES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in _DTYPE_NAMES if hasattr(torch, name)}
NAMES: dict[torch.dtype, str] = {dtype: name for name, dtype in DTYPES.items()}

with warnings.catch_warnings(action="ignore"):  # warns once of being experimental: now, not in the midst of a check
    torch.empty(0, dtype=torch.complex32)

_ARRAY_DTYPE = re.compile(r"[<>|][biufc][0-9]{1,2}")
MAX_DIMS = 64
_MAX_SIZE = 1 << 48
_MAX_NAME = 200


@dataclass(frozen=True)
class Claims:
    """What a worker says of a tensor that its bytes do not show. Read through `grader.check`, never trusted.

    Attributes:
        requires_grad: as on the tensor.
        is_leaf: as on the tensor.
        grad_fn: class name of the node that made it, or None.
        is_conj: whether it was a lazily conjugated view.
        is_neg: whether it was a lazily negated view.
        version: in-place changes since it crossed, or since it was made.
        device: where it was, such as "cpu".
        type: "Tensor" or "Parameter".
    """

    requires_grad: bool = False
    is_leaf: bool = True
    grad_fn: str | None = None
    is_conj: bool = False
    is_neg: bool = False
    version: int = 0
    device: str = "cpu"
    type: str = "Tensor"


def odd_tensor(tensor: torch.Tensor) -> str | None:
    """Why a tensor cannot be handed over, or None if it can."""
    behind = plain(tensor)
    if behind is tensor and type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return f"a subclass of torch.Tensor ({type(tensor).__name__})"
    tensor = behind
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return "a tensor that lives only inside a torch.func transform"
    if tensor.is_nested or tensor.layout is not torch.strided:
        return f"a tensor of layout {tensor.layout}"
    if tensor.device.type != "cpu":
        return f"a tensor on the device {tensor.device}"
    if tensor.dtype not in NAMES:
        return f"a tensor of dtype {tensor.dtype}"
    if not _can_be_lazy(tensor.dtype, conj=tensor.is_conj(), neg=tensor.is_neg()):
        return f"a lazily changed view of dtype {tensor.dtype}"
    return "a tensor without data" if tensor._is_zerotensor() else None


def _can_be_lazy(dtype: torch.dtype, *, conj: bool, neg: bool) -> bool:
    """Whether PyTorch can resolve such a view: others it makes, but cannot read."""
    if dtype.is_complex:
        return dtype is not torch.complex32 or not (conj and neg)
    return not conj and (not neg or dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64))


def odd_array(array: npt.NDArray[Any]) -> str | None:
    """Why an array cannot be handed over, or None if it can."""
    if type(array) is not np.ndarray:
        return f"a subclass of numpy.ndarray ({type(array).__name__})"
    return None if _ARRAY_DTYPE.fullmatch(array.dtype.str) else f"an array of dtype {array.dtype}"


def describe_tensor(tensor: torch.Tensor, block: Block | None, base_version: int, grad: Any) -> list[Any]:
    """A tensor as a description; `grad` is its gradient as a value of the tree, or None."""
    behind = plain(tensor)
    storage = behind.untyped_storage()
    place = [-1, 0, 0] if block is None else [block.number, storage.data_ptr() - block.start, storage.nbytes()]
    claims = {
        "requires_grad": tensor.requires_grad,
        "is_leaf": tensor.is_leaf,
        "grad_fn": None if tensor.grad_fn is None else type(tensor.grad_fn).__name__[:_MAX_NAME],
        "is_conj": behind.is_conj(),
        "is_neg": behind.is_neg(),
        "version": 0 if tensor.is_inference() else tensor._version - base_version,
        "device": _device(tensor),
        "type": "Parameter" if isinstance(tensor, torch.nn.Parameter) else "Tensor",
    }
    geometry = [NAMES[behind.dtype], list(behind.shape), list(behind.stride()), behind.storage_offset()]
    return ["tensor", *geometry, *place, claims, grad]


def _device(tensor: torch.Tensor) -> str:
    """Where a tensor is: at the asking end, where the worker says that it is."""
    claims = tensor.__dict__.get("_claims")
    return device_of(tensor) or (claims.device if isinstance(claims, Claims) else str(tensor.device))


def describe_array(array: npt.NDArray[Any], block: Block | None) -> list[Any]:
    """An array as a description."""
    start = array.__array_interface__["data"][0]
    place = [-1, 0] if block is None else [block.number, start - block.start]
    return ["array", array.dtype.str, list(array.shape), list(array.strides), *place, array.flags.writeable]


def build_tensor(description: list[Any], blocks: dict[int, Block], max_bytes: int) -> tuple[torch.Tensor, Claims]:
    """The tensor that a description tells of, without history, over the memory of its block.

    Raises:
        ProtocolFault: the description does not fit its block, or claims more than `max_bytes`.
    """
    _, name, shape, strides, offset, number, start, size, claims, grad = _of_length(description, 10)
    if grad is not None and not (isinstance(grad, list) and [type(part) for part in grad] == [str, int]):
        raise ProtocolFault("a gradient is no object that has a number")
    dtype = DTYPES.get(name) if isinstance(name, str) else None
    if dtype is None:
        raise ProtocolFault("unknown dtype")
    shape, strides = _sizes(shape), _sizes(strides)
    offset, start, size = (whole(value, 0, _MAX_SIZE) for value in (offset, start, size))
    if len(shape) != len(strides):
        raise ProtocolFault("shape and strides differ in length")
    if math.prod(shape) * dtype.itemsize > max_bytes:
        raise ProtocolFault(f"a tensor of shape {shape} is too large")
    block = _block(number, blocks)
    if start + size > (block.size if block else 0):
        raise ProtocolFault("a storage lies outside its block")
    needed = offset + span(shape, strides)[1] + 1 if math.prod(shape) else 0
    if needed * dtype.itemsize > size:
        raise ProtocolFault("a tensor lies outside its storage")
    storage = block.storage(start, size) if block else torch.UntypedStorage(0, device="cpu")
    tensor = torch.empty(0, dtype=dtype, device="cpu").set_(storage, offset, shape, strides)
    read = read_claims(claims)
    if not _can_be_lazy(dtype, conj=read.is_conj, neg=read.is_neg):
        raise ProtocolFault("a lazily conjugated or negated view of a dtype that has none")
    if read.is_conj:
        tensor = torch._conj(tensor)
    if read.is_neg:
        tensor = torch._neg_view(tensor)
    return tensor, read


def build_array(description: list[Any], blocks: dict[int, Block], max_bytes: int) -> npt.NDArray[Any]:
    """The array that a description tells of, over the memory of its block.

    Raises:
        ProtocolFault: the description does not fit its block, or claims more than `max_bytes`.
    """
    _, name, shape, strides, number, offset, writable = _of_length(description, 7)
    dtype = array_dtype(name)
    shape, strides = _sizes(shape), _sizes(strides, low=-_MAX_SIZE)
    offset = whole(offset, 0, _MAX_SIZE)
    if len(shape) != len(strides) or math.prod(shape) * dtype.itemsize > max_bytes:
        raise ProtocolFault(f"an array of shape {shape} with strides {strides} is not possible or too large")
    block = _block(number, blocks)
    if not math.prod(shape):
        array = _empty_array(shape, dtype)
    elif block is None:
        raise ProtocolFault("an array lies outside its block")
    else:
        low, high = span(shape, strides)
        if offset + low < 0 or offset + high + dtype.itemsize > block.size:
            raise ProtocolFault("an array lies outside its block")
        array = block.array(offset, shape, strides, dtype)
    if not writable or (block and not block.writable):
        array.flags.writeable = False
    return array


def array_dtype(name: Any) -> np.dtype[Any]:
    """The dtype of a name such as "<f4". Only such names: NumPy warns of some others, and evaluates yet others."""
    if not isinstance(name, str) or not _ARRAY_DTYPE.fullmatch(name):
        raise ProtocolFault("unknown array dtype")
    try:
        return np.dtype(name)
    except TypeError:
        raise ProtocolFault("unknown array dtype") from None


def _empty_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    try:
        return np.empty(shape, dtype)
    except ValueError as error:
        raise ProtocolFault(f"an array of shape {shape} is not possible: {error}") from None


def read_claims(claims: Any) -> Claims:
    """Claims as they should be; whatever is missing or of another type is a fault."""
    if not isinstance(claims, dict):
        raise ProtocolFault("claims are not an object")
    flags = {name: claims.get(name) for name in ("requires_grad", "is_leaf", "is_conj", "is_neg")}
    texts = {name: claims.get(name) for name in ("device", "type")}
    grad_fn = claims.get("grad_fn")
    if not all(isinstance(flag, bool) for flag in flags.values()) or not all(
        isinstance(text, str) and len(text) <= _MAX_NAME for text in (*texts.values(), grad_fn or "")
    ):
        raise ProtocolFault("claims are of the wrong type")
    return Claims(**flags, **texts, grad_fn=grad_fn, version=whole(claims.get("version"), -_MAX_SIZE, _MAX_SIZE))  # type: ignore[arg-type]


def whole(value: Any, low: int, high: int) -> int:
    """An integer within bounds, or a `ProtocolFault`."""
    if type(value) is not int or not low <= value <= high:
        raise ProtocolFault("a number is missing or out of bounds")
    return value


def _sizes(value: Any, low: int = 0) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) > MAX_DIMS:
        raise ProtocolFault("not a shape")
    return tuple(whole(item, low, _MAX_SIZE) for item in value)


def _of_length(description: list[Any], length: int) -> list[Any]:
    if len(description) != length:
        raise ProtocolFault("a description has the wrong length")
    return description


def _block(number: Any, blocks: dict[int, Block]) -> Block | None:
    if number == -1:
        return None
    block = blocks.get(whole(number, 0, 1 << 31))
    if block is None:
        raise ProtocolFault("unknown block")
    return block


__all__ = [
    "DTYPES",
    "MAX_DIMS",
    "NAMES",
    "Claims",
    "array_bounds",
    "array_dtype",
    "build_array",
    "build_tensor",
    "describe_array",
    "describe_tensor",
    "odd_array",
    "odd_tensor",
    "read_claims",
    "whole",
]
