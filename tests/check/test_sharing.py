"""Writes that show: what shares its elements with another, and what does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from grader.check import CheckFailed, writes_show

Both = tuple[Any, Any]


def contiguous() -> Both:
    array = np.arange(6.0).reshape(2, 3)
    return torch.from_numpy(array), array


def flags() -> Both:
    tensor = torch.ones(2, 3, dtype=torch.bool)
    return tensor.numpy(), tensor


def one_number() -> Both:
    tensor = torch.tensor(1.0)
    return tensor.numpy(), tensor


def transposed() -> Both:
    array = np.zeros((4, 3, 2), np.uint8)
    return torch.from_numpy(array.transpose(2, 0, 1)), array.transpose(2, 0, 1)


@pytest.mark.parametrize("views", [contiguous, flags, one_number, transposed])
def test_writes_show_in_views(views: Callable[[], Both]) -> None:
    """Each view of the same elements passes, whatever its dtype and strides, and whichever side it is on."""
    yours, base = views()
    writes_show(yours, base)
    writes_show(base, yours)


def copied() -> Both:
    tensor = torch.ones(3)
    return tensor.clone().numpy(), tensor


def out_of_order() -> Both:
    array = np.zeros((2, 3)).T
    return torch.from_numpy(array.ravel(order="K")).reshape(3, 2), array


def read_only() -> Both:
    tensor = torch.ones(3)
    array = tensor.numpy()
    array.flags.writeable = False
    return array, tensor


def one_row() -> Both:
    tensor = torch.ones(2, 3)
    return tensor[0].numpy(), tensor


@pytest.mark.parametrize(
    ("views", "public"),
    [
        (copied, "a write to t does not show in the array: it is a copy"),
        (out_of_order, "a write to t does not show at the same place in the array"),
        (read_only, "the array is read-only; a write to it must show in t"),
        (one_row, "the array has the wrong shape"),
    ],
)
def test_what_else_there_is_fails(views: Callable[[], Both], public: str) -> None:
    """A copy, other elements, another order and a read-only array are told apart."""
    with pytest.raises(CheckFailed) as failed:
        writes_show(*views(), "the array", "t")
    assert failed.value.public == public


def test_stale_numbers_are_no_writes() -> None:
    """A copy that holds by chance what is written first is found by what is written next."""
    base = torch.zeros(4)
    with pytest.raises(CheckFailed, match="it is a copy"):
        writes_show(np.arange(1.0, 5.0), base)
