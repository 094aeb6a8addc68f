"""Values of every kind, drawn by Hypothesis."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from grader.wire.dtypes import DTYPES, NAMES

EXAMPLES = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


INTS = st.one_of(
    st.integers(-1000, 1000),
    st.integers(-(1 << 70), 1 << 70),
    st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**400, -(10**4000)]),
)
FLOATS = st.floats() | st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324])
TEXTS = st.text(st.characters(), max_size=20) | st.text(st.sampled_from("\ude00aé\x00"), max_size=6)
_CODES = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "g", "G")
SCALARS = st.sampled_from(list(_CODES)).flatmap(
    lambda code: st.binary(min_size=np.dtype(code).itemsize, max_size=np.dtype(code).itemsize).map(
        lambda data: np.frombuffer(bytes(map(bool, data)) if code == "?" else data, code)[0]
    )
)
HASHABLE = st.one_of(
    st.none(),
    st.booleans(),
    INTS,
    TEXTS,
    st.binary(max_size=20),
    st.just(...),
    st.sampled_from(list(DTYPES.values())),
    st.sampled_from([torch.device("cpu"), torch.device("cuda", 1), torch.device("meta")]),
    st.lists(st.integers(0, 2**60 - 1), max_size=4).map(torch.Size),
    st.sampled_from([np.dtype(code) for code in ("f4", ">i8", "?", "c16", "u2")]),
)
PLAIN = st.one_of(HASHABLE, FLOATS, st.complex_numbers(), SCALARS)
NESTED = st.recursive(
    PLAIN | st.builds(slice, INTS | st.none(), INTS | st.none(), INTS | st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(HASHABLE | FLOATS, inner, max_size=4),
        st.sets(HASHABLE, max_size=4),
        st.frozensets(HASHABLE, max_size=4),
    ),
    max_leaves=12,
)


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """Tensors of every dtype and of every kind of geometry."""
    dtype = draw(st.sampled_from(list(DTYPES.values())))
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    size = rows * columns * dtype.itemsize
    data = bytearray(draw(st.binary(min_size=size, max_size=size)))
    if dtype is torch.bool:
        data = bytearray(map(bool, data))
    can_be_conj = dtype.is_complex and NAMES[dtype] != "bcomplex32"  # PyTorch cannot resolve those
    base = torch.empty(rows * columns, dtype=dtype)
    if data:
        base.view(torch.uint8).copy_(torch.frombuffer(data, dtype=torch.uint8))
    base = base.reshape(rows, columns)
    shapes: list[Callable[[], torch.Tensor]] = [
        lambda: base,
        lambda: base.t(),
        lambda: base[1:, ::2],
        lambda: base[:, :0],
        lambda: base.reshape(-1)[0] if base.numel() else base.reshape(-1),
        lambda: base.unsqueeze(1).expand(-1, 3, -1),
        lambda: base.reshape(-1)[-1:].expand(2, 5) if base.numel() else base,
        lambda: base.reshape(-1).as_strided((2, 2), (1, 1)) if base.numel() > 2 else base,
        lambda: torch._conj(base) if can_be_conj else base,
        lambda: torch._neg_view(base.t()) if can_be_conj or dtype is torch.float32 else base,
        lambda: torch._conj(torch._neg_view(base)) if dtype in (torch.complex64, torch.complex128) else base,
        lambda: torch._conj(base).imag if dtype in (torch.complex64, torch.complex128) else base,
    ]
    return draw(st.sampled_from(shapes))()


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    """Arrays of every dtype and of every kind of geometry, some of them read-only."""
    codes = [
        *("?", "i1", "u1", "<i2", ">i2", "<u2", "<i4", ">u4", "<i8", ">u8"),
        *("<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c8", "<c16", "g", "G"),
    ]
    dtype = np.dtype(draw(st.sampled_from(codes)))
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    size = rows * columns * dtype.itemsize
    data = draw(st.binary(min_size=size, max_size=size))
    base = np.frombuffer(bytes(map(bool, data)) if dtype.kind == "b" else data, dtype).reshape(rows, columns).copy()
    flat = base.reshape(-1)
    shapes: list[Callable[[], np.ndarray]] = [
        lambda: base,
        lambda: base.T,
        lambda: np.asfortranarray(base),
        lambda: base[::-1, ::-2],
        lambda: flat[::-1],
        lambda: base[1:, ::2],
        lambda: base[:0],
        lambda: np.array(flat[0]) if flat.size else flat,
        lambda: np.broadcast_to(base, (2, *base.shape)),
        lambda: np.lib.stride_tricks.as_strided(flat[-1:], (3, 2), (0, 0)) if flat.size else flat,
        lambda: np.lib.stride_tricks.sliding_window_view(flat, 2) if flat.size > 1 else flat,
        lambda: np.frombuffer(b"x" + base.tobytes() + b"yz", np.uint8)[1 : 1 + base.nbytes].view(dtype),
    ]
    array: np.ndarray = draw(st.sampled_from(shapes))()
    if draw(st.booleans()):
        array = array[...]
        array.flags.writeable = False
    return array
