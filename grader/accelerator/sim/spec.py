"""How fast and how large a simulated device is: a few numbers, from which the times of work and transfers follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

KIB, MIB, GIB, EIB = 1 << 10, 1 << 20, 1 << 30, 1 << 60


@dataclass(frozen=True)
class Spec:
    """The numbers of one simulated device, and of the host beside it. Times are in seconds, rates per second.

    A kernel needs the time of its arithmetic or of its memory traffic, whichever is longer, and never less than
    `kernel`. The host needs `launch` to start it and goes on at once.
    """

    name: str = "Simulated GPU"
    capability: tuple[int, int] = (8, 0)
    """The compute capability; 8.0 is the first with bfloat16."""
    processors: int = 64
    """The number of multiprocessors in the device's properties."""
    memory: int = 8 * GIB
    """Bytes of memory of each device."""
    granularity: int = 512
    """The bytes to whose multiple each allocation is rounded up, as in CUDA's allocator; 1 counts exact bytes."""
    flops: float = 10e12
    """Floating-point operations per second, in float32."""
    half: float = 4.0
    """The rate in float16 and bfloat16, as a multiple of `flops`."""
    double: float = 0.5
    """The rate in float64 and complex128, as a multiple of `flops`."""
    tf32: float = 1.0
    """The rate of float32 products where the program allows TF32, as a multiple of `flops`; numbers stay the same."""
    products: float = 1.0
    """The share of these rates that products and convolutions reach."""
    tensor_cores: float = 1.0
    """The share that they reach on tensor cores: in 16 bits, and in TF32."""
    traffic: float = 1.0
    """The share of `bandwidth` that all other operators reach."""
    clock: float = 1.4e9
    """Cycles per second, by which `torch.cuda._sleep` counts."""
    bandwidth: float = 400e9
    """Bytes per second between the device and its own memory."""
    launch: float = 5e-6
    """Time of the host to start a kernel or an asynchronous copy."""
    kernel: float = 2e-6
    """The least time of a kernel."""
    latency: float = 10e-6
    """Time of a transfer before its first byte arrives."""
    pageable: float = 6e9
    """Bytes per second between ordinary host memory and the device."""
    pinned: float = 12e9
    """Bytes per second between pinned host memory and the device."""
    peer: float = 10e9
    """Bytes per second from one index to another."""
    host_flops: float = 100e9
    """Floating-point operations per second of the host."""
    host_bandwidth: float = 20e9
    """Bytes per second between the host and its memory."""
    host_call: float = 1e-6
    """The least time of an operator on the host."""

    def rate_factor(self, dtype: torch.dtype, product: str) -> float:
        """Return the rate of operations in a dtype as a multiple of `flops`, the rate in float32.

        For `Spec()`, it is 4.0 in float16, 0.5 in float64 and 1.0 in float32.

        Args:
            dtype: the dtype in which the work is done.
            product: the name of the operator, if it is a product or a convolution; else "".
        """
        if dtype in (torch.float16, torch.bfloat16):
            return self.half * (self.tensor_cores if product else 1.0)
        share = self.products if product else 1.0
        if dtype in (torch.float64, torch.complex128):
            return self.double * share
        if self.tf32 != 1.0 and product and dtype is torch.float32:
            # By default CUDA allows it in convolutions, and in no products.
            backends: Any = torch.backends
            allowed = backends.cudnn.conv if product.startswith("conv") else backends.cuda.matmul
            return self.tf32 * self.tensor_cores if allowed.fp32_precision == "tf32" else share
        return share

    def busy_seconds(self, flops: float, nbytes: float) -> float:
        """Return the seconds for which a kernel lets no other kernel run on the device.

        Arithmetic and memory traffic overlap on a GPU, so the slower of both counts, and not their sum. The time of a
        small kernel is longer, as it is at least `kernel`; other kernels can run in the rest of it.

        Args:
            flops: the number of float32 operations that take as long as the kernel's arithmetic.
            nbytes: the bytes that the kernel reads from and writes to the device's memory.
        """
        return max(flops / self.flops, nbytes / (self.bandwidth * self.traffic))

    def bus_seconds(self, nbytes: float, *, pinned: bool = False, peer: bool = False) -> float:
        """Return the seconds for which a transfer occupies the bus.

        Args:
            nbytes: the number of bytes.
            pinned: True if the host's memory is pinned.
            peer: True if the copy is between two devices.
        """
        return nbytes / (self.peer if peer else self.pinned if pinned else self.pageable)

    def host_seconds(self, flops: float, nbytes: float) -> float:
        """Return the seconds that the host needs for an operator on CPU tensors."""
        return max(self.host_call, flops / self.host_flops, nbytes / self.host_bandwidth)
