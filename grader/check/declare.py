"""How a check file declares its checks: ordinary pytest functions with a docstring, under one decorator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from grader.model import CATEGORIES, Device

Function = TypeVar("Function", bound=Callable[..., Any])


def check(
    contract: str = "",
    *,
    category: str = "correctness",
    share: int = 1,
    shown: bool | None = None,
    try_this: str = "",
    call_s: float | None = None,
    device: str = "none",
) -> Callable[[Function], Function]:
    """Declare a check. Its title is its docstring's first line.

    Args:
        contract: the contract line it examines, such as "C2".
        category: what it is about, one of `grader.model.CATEGORIES`.
        share: its share of the exercise's points.
        shown: whether students see its inputs; by default, whether it lies in the exercise's own folder.
        try_this: for a hidden check, a call that a student can try, which is not the hidden input.
        call_s: CPU seconds of one call, if not the exercise's own.
        device: "none"; "sim" for a simulated accelerator, or CUDA on request; "cuda" for CUDA only.

    Raises:
        ValueError: a category, share or device that does not exist.
    """
    # Found when the file is read, and so before any submission is.
    if category not in CATEGORIES:
        raise ValueError(f"category {category!r} is none of {', '.join(CATEGORIES)}")
    if share < 0:
        raise ValueError("a share cannot be negative")
    if device not in list(Device):
        raise ValueError(f"device {device!r} is none of {', '.join(Device)}")
    # A mark and not a wrapper, so that a check stays an ordinary pytest function, with its fixtures and parameters.
    more = {"try_this": try_this, "call_s": call_s, "device": Device(device)}
    return pytest.mark.graded(contract=contract, category=category, share=share, shown=shown, **more)
