"""Memory against the reference: by count, and as it is seen from outside."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
from support import Function

from grader.check.ratios import as_lean_as
from grader.connection.connection import connection_of
from grader.model.endings import CheckFailed

LEAN = "def total(x):\n    return x.neg_().sum().neg()\n"
LARGE_ONLY = (
    "def total(x):\n    return torch.cat([x, x, x, x]).sum() / 4 if len(x) > 999_999 else x.neg_().sum().neg()\n"
)
FAT = "def total(x):\n    y = torch.cat([x, x, x, x])\n    return y.sum() / 4\n"
HOW: dict[str, Any] = {"size": 4_000_000, "at_most": 1.5, "rtol": 1e-3, "atol": 1.0}

from_outside = pytest.mark.skipif(sys.platform != "linux", reason="memory of a process is read from /proc")


def inputs(size: int) -> tuple[torch.Tensor]:
    return (torch.ones(size),)


def test_lean_enough(function: Function) -> None:
    """What needs about as much as the reference passes, and the peak is in the report."""
    mine = function("def total(x):\n    return (x + 1).sum() - len(x)\n")
    as_lean_as(mine, function("def total(x):\n    return (x * 1).sum()\n", owner="the reference's"), inputs, **HOW)
    assert connection_of(mine).record.counters == {"peak": 4 * 400_000 + 4}


def test_too_much_by_count(function: Function) -> None:
    """Four copies where none is needed are counted."""
    with pytest.raises(CheckFailed, match=r"needs more than 1\.5 times the memory of the reference") as failed:
        as_lean_as(function(FAT), function(LEAN, owner="the reference's"), inputs, **HOW)
    assert "yours 6,400,00" in failed.value.story


@from_outside
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LARGE_ONLY, id="only where it is large"),
        pytest.param("def total(x):\n    b = bytearray(x.nbytes * 4)\n    return x.sum()\n", id="not PyTorch's memory"),
    ],
)
def test_too_much_seen_from_outside(function: Function, text: str) -> None:
    """Memory that the count does not show is seen on the process."""
    with pytest.raises(CheckFailed, match="needs much more memory than the reference") as failed:
        as_lean_as(function(text), function(LEAN, owner="the reference's"), inputs, **HOW)
    assert "MB are expected" in failed.value.story


def test_a_lean_answer_that_is_wrong_where_it_is_large(function: Function) -> None:
    """Who skips the work where it is measured gains nothing; who is wrong everywhere loses by checks of values."""
    skips = "def total(x):\n    return x.sum() if len(x) < 10_000 else x[0]\n"
    with pytest.raises(CheckFailed, match="for a large input is wrong"):
        as_lean_as(function(skips), function(LEAN), inputs, **HOW)
    as_lean_as(function("def total(x):\n    return x[0]\n"), function(LEAN), inputs, **HOW)
