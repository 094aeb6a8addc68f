"""The text that makes a value again, in the lines that a student can try."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from grader.check.show import as_source


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (torch.tensor([0.1, -2.0]), "torch.tensor([0.1, -2.0], dtype=torch.float32)"),
        (torch.tensor([0.1], dtype=torch.float64), "torch.tensor([0.1], dtype=torch.float64)"),
        (torch.tensor(0.1, dtype=torch.float16), "torch.tensor(0.1, dtype=torch.float16)"),
        (torch.zeros(1, 1, 4, 5), "torch.zeros(1, 1, 4, 5, dtype=torch.float32)"),
        (torch.ones(2, 3, dtype=torch.int64), "torch.ones(2, 3, dtype=torch.int64)"),
        (torch.ones(3), "torch.tensor([1.0, 1.0, 1.0], dtype=torch.float32)"),
        (-torch.zeros(2, 3), "torch.tensor([[-0.0, -0.0, -0.0], [-0.0, -0.0, -0.0]], dtype=torch.float32)"),
        (np.array([0.1, np.nan], dtype=np.float32), "np.array([0.1, float('nan')], dtype='<f4')"),
    ],
)
def test_numbers_have_the_digits_of_their_dtype(value: Any, text: str) -> None:
    """A float32 is written as a person would, and many equal numbers by the function that makes them."""
    assert as_source(value) == text


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_each_text_makes_the_same_bits(dtype: torch.dtype) -> None:
    """Whatever the bits of a float are, the number that is read is the same."""
    width = torch.finfo(dtype).bits
    bits = torch.randint(-(2 ** (width - 1)), 2 ** (width - 1), (4000,), generator=torch.Generator().manual_seed(0))
    values = bits.to(torch.int32 if width == 32 else torch.int16).view(dtype)
    for row in values.view(-1, 8):
        again = eval(as_source(row), {"torch": torch})
        assert torch.equal(again.nan_to_num(7.0), row.nan_to_num(7.0))
