"""Tensors and arrays as rows, and back. What arrives is checked for bounds before memory is touched."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import numpy as np
import torch

from grader.wire.blocks import Array, Block, span
from grader.wire.bounds import Caps, ProtocolFault
from grader.wire.checked import MAX_NAME
from grader.wire.claimed import claims_of, own_version
from grader.wire.devices import device_of, plain
from grader.wire.rows import NO_BLOCK, ArrayRow, Claims, Layout, Place, TensorRow

_DTYPE_NAMES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in _DTYPE_NAMES if hasattr(torch, name)}
NAMES: dict[torch.dtype, str] = {dtype: name for name, dtype in DTYPES.items()}

with warnings.catch_warnings(action="ignore"):  # warns once of being experimental: now, not in the midst of a check
    torch.empty(0, dtype=torch.complex32)

# Numbers of a fixed size alone: neither objects, whose bytes are addresses, nor text, dates or records.
_ARRAY_DTYPE = re.compile(r"[<>|][biufc][0-9]{1,2}")


def odd_tensor(tensor: torch.Tensor) -> str | None:
    """Why a tensor cannot be handed over, or None if it can."""
    # A subclass may run code of its own whenever it is asked something, so it is asked no further.
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


def odd_array(array: Array) -> str | None:
    """Why an array cannot be handed over, or None if it can."""
    if type(array) is not np.ndarray:
        return f"a subclass of numpy.ndarray ({type(array).__name__})"
    return None if _ARRAY_DTYPE.fullmatch(array.dtype.str) else f"an array of dtype {array.dtype}"


def layout_of(tensor: torch.Tensor) -> Layout:
    """How a tensor lies in its storage; of a dtype that has no name here, the name is empty."""
    return Layout(NAMES.get(tensor.dtype, ""), tuple(tensor.shape), tensor.stride(), int(tensor.storage_offset()))


def look_of(tensor: torch.Tensor) -> object:
    """All that the row of an ordinary tensor tells of it, in few steps; None of one to be described each time."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or plain(tensor) is not tensor or tensor.is_inference():
        return None
    leaf = tensor.is_leaf
    if leaf and tensor.grad is not None:  # by its number, which is not known here
        return None
    storage = tensor.untyped_storage()
    where = tensor.data_ptr(), tensor.storage_offset(), storage.data_ptr(), storage.nbytes()
    lies = tensor.dtype, tensor.shape, tensor.stride(), tensor.layout, tensor.device
    told = tensor.is_conj(), tensor.is_neg(), own_version(tensor), tensor.requires_grad, type(tensor.grad_fn), leaf
    return type(tensor), where, lies, told


def describe_tensor(tensor: torch.Tensor, block: Block | None, base_version: int, grad: int | None) -> TensorRow:
    """A tensor as a row; `grad` is the number of its gradient, if it has one."""
    behind = plain(tensor)
    storage = behind.untyped_storage()
    place = Place() if block is None else Place(block.number, storage.data_ptr() - block.start, storage.nbytes())
    told = claims_of(tensor)  # at the asking end: what hangs on where a tensor is counted and made stays as it was told
    grad_fn = None if tensor.grad_fn is None else type(tensor.grad_fn).__name__[:MAX_NAME]
    claims = Claims(
        tensor.requires_grad,
        tensor.is_leaf,
        grad_fn if told is None else told.grad_fn,
        behind.is_conj(),
        behind.is_neg(),
        # Counted from when the tensor crossed: the number itself is another one at each end.
        own_version(tensor) - base_version if told is None else told.version,
        device_of(tensor) or (str(tensor.device) if told is None else told.device),
        "Parameter" if isinstance(tensor, torch.nn.Parameter) else "Tensor",
        torch._C.TensorBase.is_inference(tensor) if told is None else told.is_inference,  # as in `own_version`
    )
    return TensorRow(layout_of(behind), place, claims, grad)


def describe_array(array: Array, block: Block | None) -> ArrayRow:
    """An array as a row."""
    start = array.__array_interface__["data"][0]
    number, offset = (NO_BLOCK, 0) if block is None else (block.number, start - block.start)
    return ArrayRow(array.dtype.str, array.shape, array.strides, number, offset, array.flags.writeable)


def build_tensor(row: TensorRow, blocks: dict[int, Block], caps: Caps) -> torch.Tensor:
    """The tensor that a row tells of, without history, over the memory of its block.

    Raises:
        ProtocolFault: the row does not fit its block, or claims more than the caps allow.
    """
    (name, shape, strides, offset), claims = row.layout, row.claims
    dtype = DTYPES.get(name)
    if dtype is None:
        raise ProtocolFault("unknown dtype")
    # All of it is computed here, before PyTorch sees any: Python's integers do not overflow.
    if len(shape) != len(strides):
        raise ProtocolFault("shape and strides differ in length")
    # Expanded by strides of 0, it may be more than its memory.
    if math.prod(shape) * dtype.itemsize > caps.most_bytes(row.place.size):
        raise ProtocolFault(f"a tensor of shape {shape} is too large")
    block = _block(row.place.block, blocks)
    if row.place.start + row.place.size > (block.size if block else 0):
        raise ProtocolFault("a storage lies outside its block")
    needed = offset + span(shape, strides)[1] + 1 if math.prod(shape) else 0
    if needed * dtype.itemsize > row.place.size:
        raise ProtocolFault("a tensor lies outside its storage")
    storage = block.storage(row.place.start, row.place.size) if block else torch.UntypedStorage(0, device="cpu")
    tensor = torch.empty(0, dtype=dtype, device="cpu").set_(storage, offset, shape, strides)
    # A lazy view of a dtype that has none can be made, but whatever reads it fails, in the midst of a check.
    if not _can_be_lazy(dtype, conj=claims.is_conj, neg=claims.is_neg):
        raise ProtocolFault("a lazily conjugated or negated view of a dtype that has none")
    if claims.is_conj:
        tensor = torch._conj(tensor)
    if claims.is_neg:
        tensor = torch._neg_view(tensor)
    return tensor


def build_array(row: ArrayRow, blocks: dict[int, Block], caps: Caps) -> Array:
    """The array that a row tells of, over the memory of its block.

    Raises:
        ProtocolFault: the row does not fit its block, or claims more than the caps allow.
    """
    dtype, shape, strides = array_dtype(row.dtype), row.shape, row.strides
    block = _block(row.block, blocks)
    most = caps.most_bytes(block.size if block else 0)
    if len(shape) != len(strides) or math.prod(shape) * dtype.itemsize > most:
        raise ProtocolFault(f"an array of shape {shape} with strides {strides} is not possible or too large")
    if not math.prod(shape):  # whatever its strides: nothing of it is ever read
        array = _empty_array(shape, dtype)
    elif block is None:
        raise ProtocolFault("an array lies outside its block")
    else:
        low, high = span(shape, strides)
        if row.offset + low < 0 or row.offset + high + dtype.itemsize > block.size:
            raise ProtocolFault("an array lies outside its block")
        array = block.array(row.offset, shape, strides, dtype)
    if not row.writable or (block and not block.writable):
        array.flags.writeable = False
    return array


def array_dtype(name: object) -> np.dtype[Any]:
    """The dtype of a name such as "<f4". Of others, NumPy warns of some and evaluates some: it is not asked."""
    if not isinstance(name, str) or not _ARRAY_DTYPE.fullmatch(name):
        raise ProtocolFault("unknown array dtype")
    try:
        return np.dtype(name)
    except TypeError:
        raise ProtocolFault("unknown array dtype") from None


def _empty_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    try:
        return np.empty(shape, dtype)
    except ValueError as error:  # NumPy multiplies the other dimensions, though one of them is 0
        raise ProtocolFault(f"an array of shape {shape} is not possible: {error}") from None


def _block(number: int, blocks: dict[int, Block]) -> Block | None:
    if number == NO_BLOCK:
        return None
    block = blocks.get(number)
    if block is None:
        raise ProtocolFault("unknown block")
    return block


__all__ = [
    "DTYPES",
    "NAMES",
    "Claims",
    "array_dtype",
    "build_array",
    "build_tensor",
    "describe_array",
    "describe_tensor",
    "layout_of",
    "odd_array",
    "odd_tensor",
]
