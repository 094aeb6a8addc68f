"""CUDA's runtime, as far as programs call it by `torch.cuda.cudart()`."""

from __future__ import annotations

from typing import Any

from grader.accelerator.core import pinned_memory
from grader.accelerator.cuda import device_module
from grader.accelerator.refusals import refusal

_ERRORS = {
    0: "no error",
    1: "invalid argument",
    2: "out of memory",
    3: "initialization error",
    100: "no CUDA-capable device is detected",
    101: "invalid device ordinal",
    700: "an illegal memory access was encountered",
    710: "device-side assert triggered",
    712: "part or all of the requested memory range is already mapped",
    713: "pointer does not correspond to a registered memory region",
    719: "unspecified launch failure",
}
"""The texts of CUDA's codes of errors that PyTorch's users meet."""

_ALREADY_REGISTERED = 712
_NOT_REGISTERED = 713


class CudaError(int):
    """An error code of CUDA's runtime, which is an int; PyTorch has a name only for 0, `cudaError.success`."""

    success: CudaError

    def __str__(self) -> str:
        return "cudaError.success" if self == 0 else "cudaError.???"

    def __repr__(self) -> str:
        return f"<{self}: {int(self)}>"


CudaError.success = CudaError(0)


class CudaRuntime:
    """The functions of CUDA's runtime that programs call: profilers, which see nothing here, and memory."""

    cudaError = CudaError  # noqa: N815

    def cudaGetErrorString(self, error: int) -> str:  # noqa: N802
        """Return the text of an error code of CUDA, such as "out of memory" for 2."""
        return _ERRORS.get(error, "unrecognized error code")

    def cudaHostRegister(self, address: int, nbytes: int, flags: int) -> CudaError:  # noqa: N802
        """Pin memory of the host that is allocated already.

        Return `CudaError(0)`, which means success, or `CudaError(712)` if part of the memory is registered already.

        Args:
            address: the address of the first byte.
            nbytes: the number of bytes.
            flags: not used.
        """
        del flags
        return CudaError(0 if pinned_memory.register_host_memory(address, nbytes) else _ALREADY_REGISTERED)

    def cudaHostUnregister(self, address: int) -> CudaError:  # noqa: N802
        """Unpin memory that `cudaHostRegister` pinned.

        Return `CudaError(0)`, which means success, or `CudaError(713)` if no memory was registered at this address.
        """
        return CudaError(0 if pinned_memory.unregister_host_memory(address) else _NOT_REGISTERED)

    def cudaProfilerStart(self) -> CudaError:  # noqa: N802
        """Do nothing, and return 0, CUDA's code for success."""
        return CudaError.success

    def cudaProfilerStop(self) -> CudaError:  # noqa: N802
        """Do nothing, and return 0, CUDA's code for success."""
        return CudaError.success

    def cudaMemGetInfo(self, device: int) -> tuple[int, int]:  # noqa: N802
        """Return the free and the total bytes of a device's memory."""
        return device_module.mem_get_info(device)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise refusal(f"torch.cuda.cudart().{name} is not supported on the simulated device")
