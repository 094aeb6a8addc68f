"""`torch.is_autocast_enabled` and its like know the simulated device."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.ops.autocast import CAST_CACHE, register
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import INNER, Machine


def install(machine: Machine) -> None:
    """Let `torch.autocast("cuda")` switch autocast on for the simulated device.

    The functions that it calls, such as `torch.is_autocast_enabled`, accept the device by its public name.
    """

    def inner(device_type: str) -> str:
        # With an index, too: `str(device)` is often given here.
        return INNER if isinstance(device_type, str) and machine.is_simulated(device_type) else device_type

    enabled, set_enabled = torch.is_autocast_enabled, torch.set_autocast_enabled
    dtype_of, set_dtype = torch.get_autocast_dtype, torch.set_autocast_dtype

    def is_autocast_enabled(device_type: str = machine.kind) -> bool:
        return enabled(inner(device_type))

    # The old form has no device: `set_autocast_enabled(True)`.
    def set_autocast_enabled(device_type: Any, enabled: Any = None) -> None:
        device_type, enabled = (INNER, device_type) if enabled is None else (inner(device_type), enabled)
        # Not before: a hundred kernels take 40 ms, and most processes never need them.
        if device_type == INNER and enabled:
            register()
        set_enabled(device_type, enabled)

    def get_autocast_dtype(device_type: str) -> torch.dtype:
        return dtype_of(inner(device_type))

    def set_autocast_dtype(device_type: str, dtype: torch.dtype) -> None:
        set_dtype(inner(device_type), dtype)

    def get_autocast_gpu_dtype() -> torch.dtype:
        return dtype_of(INNER)

    def set_autocast_gpu_dtype(dtype: torch.dtype) -> None:
        set_dtype(INNER, dtype)

    named = (is_autocast_enabled, set_autocast_enabled, get_autocast_dtype, set_autocast_dtype)
    for function in (*named, get_autocast_gpu_dtype, set_autocast_gpu_dtype):
        put(torch, function.__name__, function)
    clear_casts = torch.clear_autocast_cache

    def clear_autocast_cache() -> None:
        CAST_CACHE.casts.clear()
        clear_casts()

    # The region that is left last calls this by the name it has in `torch`.
    put(torch, "clear_autocast_cache", clear_autocast_cache)
