"""Few bytes that say they are many: what is made of them here is bounded by what came."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from wire.ends import little_memory_and_time
from wire.pair import Pair
from wire.test_attacks import claims

from grader.check.values import same_values
from grader.model.endings import CannotJudge
from grader.wire.blocks import Block
from grader.wire.bounds import Caps, ProtocolFault, Unsupported
from grader.wire.describe import build_array, build_tensor
from grader.wire.rows import ArrayRow, TensorRow


def tensor_of(shape: list[int], dtype: str, memory: int = 16, **flags: bool) -> torch.Tensor:
    """What arrives of a row with strides of 0."""
    row: list[Any] = ["tensor", dtype, shape, [0] * len(shape), 0, 1, 0, memory, {**claims(), **flags}, None]
    return build_tensor(TensorRow.read(row), {1: Block.allocate(1, memory, writable=True)}, Caps())


def test_a_claim_far_above_its_bytes_is_a_fault() -> None:
    """One element that says it is 10^8 is refused, whatever its dtype and its flags."""
    with little_memory_and_time():
        for dtype, flags in (("bool", {}), ("complex64", {"is_conj": True}), ("float64", {"is_neg": True})):
            with pytest.raises(ProtocolFault, match="too large"):
                tensor_of([10_000, 10_000], dtype, **flags)
        row = ArrayRow.read(["array", "|u1", [100_000_000], [0], 1, 0, True])
        with pytest.raises(ProtocolFault, match="too large"):
            build_array(row, {1: Block.allocate(1, 16, writable=True)}, Caps())


def test_what_came_may_be_as_large_as_it_is() -> None:
    """The bound is on what is expanded; memory that was sent is itself allowed."""
    size = Caps().expanded_bytes + 8
    row: list[Any] = ["tensor", "uint8", [size], [1], 0, 1, 0, size, claims(), None]
    blocks = {1: Block.allocate(1, size, writable=True)}
    assert build_tensor(TensorRow.read(row), blocks, Caps()).numel() == size
    assert Caps(data_bytes=100).most_bytes(1000) == 100


def test_honest_expanded_values_still_cross() -> None:
    """A tensor and an array of 64 MB once expanded go both ways."""
    many = Caps().expanded_bytes // 8
    given = torch.ones(1, dtype=torch.float64).expand(many), np.broadcast_to(np.ones(1), (many,))
    taken = Pair().call(lambda x, y: (x, y), *given)
    assert [tuple(value.shape) for value in taken] == [(many,), (many,)]
    with pytest.raises(Unsupported, match="too large"):
        Pair().call(lambda x: None, torch.ones(1, dtype=torch.float64).expand(many + 1))


def test_shapes_are_compared_before_anything_is_copied() -> None:
    """A lazy view as large as is allowed is not made real to be told that its shape is wrong."""
    claimed = tensor_of([8 << 20], "complex64", is_conj=True)
    wide = np.broadcast_to(np.zeros(1), (8 << 20,))
    with little_memory_and_time():
        for value in (claimed, wide):
            with pytest.raises(CannotJudge, match="shape"):
                same_values(value, torch.zeros(3))
            with pytest.raises(CannotJudge, match="shape"):
                same_values(value, 1.0)
