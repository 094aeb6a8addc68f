"""Operators whose kernels take integers on a GPU and not on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def _histc(x: torch.Tensor, bins: int = 100, min: Any = 0, max: Any = 0, out: torch.Tensor | None = None) -> Any:
    """Compute `histc`, for integers with the results of CUDA.

    `_histc_cuda` finds the bounds and the bins of integers with 64-bit integers.
    """
    if x.dtype.is_floating_point:
        return torch.histc(x, bins, min, max, out=out)
    low, high, wide = int(min), int(max), x.long().flatten()
    if bins <= 0:
        raise RuntimeError("bins must be > 0")
    if low == high and wide.numel():
        low, high = int(wide.min()), int(wide.max())
    if low == high:
        low, high = low - 1, high + 1
    if low > high:
        raise RuntimeError("max must be larger than min")
    inside = wide[(wide >= low) & (wide <= high)]
    # The last bin has the upper bound, too.
    places = ((inside - low) * bins // (high - low)).clamp_(max=bins - 1)
    made = torch.bincount(places, minlength=bins).to(x.dtype)
    return made if out is None else out.resize_(made.shape).copy_(made)


KERNELS: dict[str, Callable[..., Any]] = {"histc": _histc}
"""By operator, the function that computes it with the numbers of the CPU."""
