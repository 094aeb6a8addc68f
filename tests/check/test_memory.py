"""Memory against the reference: by count, and as it is seen from outside."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
from support import Function

from grader.check.memory import as_lean_as, releases
from grader.model.endings import CheckFailed
from grader.remote.handle import side_of

LEAN = "def total(x):\n    return x.neg_().sum().neg()\n"
FAT = "def total(x):\n    y = torch.cat([x, x, x, x])\n    return y.sum() / 4\n"
HOW: dict[str, Any] = {"size": 4_000_000, "at_most": 1.5, "rtol": 1e-3, "atol": 1.0}

from_outside = pytest.mark.skipif(sys.platform != "linux", reason="memory of a process is read from /proc")


def inputs(size: int) -> tuple[torch.Tensor]:
    return (torch.ones(size),)


def test_lean_enough(function: Function) -> None:
    """What needs about as much as the reference passes, and the peak is in the report."""
    mine = function("def total(x):\n    return (x + 1).sum() - len(x)\n")
    as_lean_as(mine, function("def total(x):\n    return (x * 1).sum()\n", owner="the reference's"), inputs, **HOW)
    assert side_of(mine).counters == {"peak": 4 * 4_000_000 + 4}


def test_too_much_by_count(function: Function) -> None:
    """Four copies where none is needed are counted."""
    with pytest.raises(CheckFailed, match=r"needs more than 1\.5 times the memory of the reference") as failed:
        as_lean_as(function(FAT), function(LEAN, owner="the reference's"), inputs, **HOW)
    assert "yours 64,000,00" in failed.value.story


@from_outside
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "from torch.utils._python_dispatch import _disable_current_modes as hidden\n"
            "def total(x):\n    with hidden():\n        return torch.cat([x, x, x, x]).sum() / 4\n",
            id="hidden from the count",
        ),
        pytest.param("def total(x):\n    b = bytearray(x.nbytes * 4)\n    return x.sum()\n", id="not PyTorch's memory"),
    ],
)
def test_too_much_seen_from_outside(function: Function, text: str) -> None:
    """Memory that the count does not show is seen on the process."""
    with pytest.raises(CheckFailed, match="seen from outside of Python") as failed:
        as_lean_as(function(text), function(LEAN, owner="the reference's"), inputs, **HOW)
    assert "MB, at most" in failed.value.story


def test_a_lean_answer_that_is_wrong(function: Function) -> None:
    """Needing little is no merit where the result is wrong."""
    with pytest.raises(CheckFailed, match="wrong value"):
        as_lean_as(function("def total(x):\n    return x[0]\n"), function(LEAN), inputs, **HOW)


def test_memory_is_released(function: Function) -> None:
    """What is kept beyond the call is counted: an argument, a view of it, something new."""
    x = torch.arange(100.0)
    releases(function("def total(x):\n    y = x + 1\n    return y.sum()\n"), x)
    for kept in ("x", "x[:1]", "x + 1"):
        text = f"kept = []\ndef total(x):\n    kept.append({kept})\n    return x.sum()\n"
        with pytest.raises(CheckFailed, match="keeps memory that nobody needs any more") as failed:
            releases(function(text), x)
        assert "400 bytes" in failed.value.story


@from_outside
def test_memory_that_is_kept_out_of_sight(function: Function) -> None:
    """Numbers that are kept where PyTorch does not see them are seen on the process."""
    text = "kept = []\ndef total(x):\n    kept.append(x.tolist())\n    return x.sum()\n"
    with pytest.raises(CheckFailed, match="keeps memory that nobody needs any more") as failed:
        releases(function(text), torch.randn(500_000))
    assert "MB in 8 calls" in failed.value.story
    releases(function("def total(x):\n    return x.tolist()[0]\n"), torch.randn(500_000))
