"""`torch.backends.cuda.cufft_plan_cache`: there are no plans, and the largest number of them can be set."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine

_MOST = 4096
"""How many plans cuFFT keeps by default, as PyTorch's notes on CUDA say."""


def install(machine: Machine) -> None:
    """Let programs read and set `torch.backends.cuda.cufft_plan_cache`, which stays empty.

    Its `size` is 0, and its `max_size` is 4096 until the program sets it.
    """
    most = dict.fromkeys(range(len(machine.devices)), _MOST)

    def size(index: int) -> int:
        del index
        return 0

    def max_size(index: int) -> int:
        return most[index]

    def set_max_size(index: int, number: int) -> None:
        most[index] = number

    def clear(index: int) -> None:
        del index

    cache: Any = torch.backends.cuda.cuFFTPlanCache
    # The class took these functions when it was defined.
    vars(cache)["size"].getter = size
    vars(cache)["max_size"].getter, vars(cache)["max_size"].setter = max_size, set_max_size
    put(torch, "_cufft_clear_plan_cache", clear)
