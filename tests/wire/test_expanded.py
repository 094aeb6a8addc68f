"""Few bytes that say they are many: what is made of them here is bounded by what came."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from wire.ends import little_memory_and_time
from wire.pair import Pair

from grader.check.values import same_values
from grader.model.endings import CannotJudge
from grader.wire.bounds import Caps, ProtocolError
from grader.wire.decode import Decoder
from grader.wire.memory import Table


def made_of(row: list[Any], memory: int = 16) -> Any:
    """What arrives of a row on a block."""
    tree = {"roots": [["ref", 0]], "rows": [[0, row]], "blocks": [[0, memory]]}
    data = memoryview(bytearray(-(-memory // 64) * 64))
    return Decoder(Table(), lambda *_: None).decode(tree, data)[0]


def tensor_of(shape: list[int], dtype: str, bits: int = 0) -> Any:
    """What arrives of a row with strides of 0."""
    return made_of(["tensor", dtype, shape, [0] * len(shape), 0, 0, 0, 16, bits])


def test_a_value_far_above_its_bytes_is_a_fault() -> None:
    """One element that says it is 10^8 is refused, whatever its dtype and its lazy flags."""
    with little_memory_and_time():
        for dtype, bits in (("bool", 0), ("complex64", 1), ("float64", 2)):
            with pytest.raises(ProtocolError, match="too many elements"):
                tensor_of([10_000, 10_000], dtype, bits)
        with pytest.raises(ProtocolError, match="too many elements"):
            made_of(["array", "|u1", [100_000_000], [0], 0, 0, True])


def test_what_came_may_be_as_large_as_it_is() -> None:
    """The bound is on what is expanded; memory that was sent is itself allowed."""
    size = Caps().expanded_bytes + 8
    assert made_of(["tensor", "uint8", [size], [1], 0, 0, 0, size, 0], size).numel() == size
    assert Caps(data_bytes=100).most_bytes(1000) == 100


def test_honest_expanded_values_still_cross() -> None:
    """A tensor and an array of 64 MB once expanded go both ways."""
    many = Caps().expanded_bytes // 8
    given = torch.ones(1, dtype=torch.float64).expand(many), np.broadcast_to(np.ones(1), (many,))
    taken = Pair().call(lambda x, y: (x, y), *given)
    assert [tuple(value.shape) for value in taken] == [(many,), (many,)]
    assert [tuple(value.shape) for value in Pair().call(lambda: given)] == [(many,), (many,)]


def test_shapes_are_compared_before_anything_is_copied() -> None:
    """A lazy view as large as is allowed is not made real to say that its shape is wrong."""
    lazy = tensor_of([8 << 20], "complex64", bits=1)
    wide = np.broadcast_to(np.zeros(1), (8 << 20,))
    with little_memory_and_time():
        for value in (lazy, wide):
            with pytest.raises(CannotJudge, match="shape"):
                same_values(value, torch.zeros(3))
            with pytest.raises(CannotJudge, match="shape"):
                same_values(value, 1.0)
