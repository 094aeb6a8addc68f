"""CUDA's runtime, as far as programs call it by `torch.cuda.cudart()`."""

from __future__ import annotations

import types
from typing import Any

from grader.accelerator.cuda import device_module
from grader.accelerator.refusals import refusal


class CudaRuntime:
    """The functions of CUDA's runtime that programs call: profilers, which see nothing here, and free memory."""

    cudaError = types.SimpleNamespace(success=0)  # noqa: N815

    def cudaProfilerStart(self) -> int:  # noqa: N802
        """Do nothing, and return 0, CUDA's code for success."""
        return 0

    def cudaProfilerStop(self) -> int:  # noqa: N802
        """Do nothing, and return 0, CUDA's code for success."""
        return 0

    def cudaMemGetInfo(self, device: int) -> tuple[int, int]:  # noqa: N802
        """Return the free and the total bytes of a device's memory."""
        return device_module.mem_get_info(device)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise refusal(f"torch.cuda.cudart().{name} is not supported on the simulated device")
