"""Specs of a few real GPUs: the peak rates that their maker gives, and the share of them that PyTorch's kernels reach.

The shares are the same for all. They were fitted to three published times of a training step of GPT-2 on an A100, which
`gpu/gpt2_step.py` names. That an operator may be more than one kernel on a GPU is in them. Rates between host
and device are what is usual on the bus: about 12, 25 and 50 GB/s for PCIe 3, 4 and 5 with pinned memory. Sources, all
of NVIDIA:

- t4: T4 Tensor Core GPU datasheet; Turing architecture whitepaper, WP-09183
- v100: Tesla V100 datasheet (SXM2); Volta architecture whitepaper, WP-08608
- a100, a100-80gb: A100 Tensor Core GPU datasheet (SXM4); Ampere architecture whitepaper
- a10g: A10G Tensor Core GPU datasheet, which NVIDIA made for AWS: 31.52 teraflops in float32, 35 in TF32, 70 in 16
  bits, 600 GB/s; 80 multiprocessors by its 80 RT cores; float64 at 1/64 of float32 as the GA102 whitepaper says
- l4: L4 Tensor Core GPU datasheet: 30.3 teraflops in float32, with sparsity 120 in TF32 and 242 in 16 bits, 300 GB/s;
  float64 at 1/64 of float32 as the Ada architecture whitepaper says
- l40s: L40S datasheet, rates without sparsity
- h100: H100 Tensor Core GPU datasheet (SXM5), rates without sparsity; Hopper architecture whitepaper
- h200: H200 Tensor Core GPU datasheet (SXM), rates without sparsity
- b200: Blackwell datasheet, one GPU of an HGX B200: 37 and 75 teraflops in float64 and float32, with sparsity 2.2
  petaflops in TF32 and 4.5 in 16 bits, 180 GB with 7.7 TB/s, NVLink with 1.8 TB/s both ways together
- rtx3090: Ampere GA102 architecture whitepaper, appendix A
- rtx4090: Ada architecture whitepaper, appendix A
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.accelerator.sim.spec import Spec


@dataclass(frozen=True)
class _Gpu:
    """The numbers of a GPU's datasheet, in teraflops and gigabytes per second."""

    name: str
    gib: int
    capability: tuple[int, int]
    processors: int
    float64: float
    float32: float
    tf32: float
    half: float
    bandwidth: float
    pcie: int
    peer: float
    """One way."""

    def spec(self) -> Spec:
        """Return the `Spec` that has this GPU's numbers.

        For the A100 with 40 GB, it has `flops=19.5e12`, `half=16.0` (312 / 19.5) and `bandwidth=1555e9`, among others.
        """
        # Here: the names alone are needed where PyTorch is not imported.
        from grader.accelerator.sim.spec import GIB, Spec

        pinned, pageable = {3: (12e9, 6e9), 4: (25e9, 10e9), 5: (50e9, 12e9)}[self.pcie]
        return Spec(
            name=self.name,
            memory=self.gib * GIB,
            capability=self.capability,
            processors=self.processors,
            flops=self.float32 * 1e12,
            half=self.half / self.float32,
            double=self.float64 / self.float32,
            tf32=self.tf32 / self.float32,
            bandwidth=self.bandwidth * 1e9,
            pinned=pinned,
            pageable=pageable,
            peer=self.peer * 1e9,
            products=0.85,
            tensor_cores=0.65,
            traffic=0.55,
        )


_GPUS = {
    # name, memory, capability, processors, float64, float32, TF32, 16 bits, memory GB/s, PCIe, to another device GB/s
    "t4": _Gpu("Tesla T4", 16, (7, 5), 40, 0.25, 8.1, 8.1, 65, 320, 3, 10),
    "v100": _Gpu("Tesla V100-SXM2-16GB", 16, (7, 0), 80, 7.8, 15.7, 15.7, 125, 900, 3, 150),
    "a100": _Gpu("NVIDIA A100-SXM4-40GB", 40, (8, 0), 108, 9.7, 19.5, 156, 312, 1555, 4, 300),
    "a100-80gb": _Gpu("NVIDIA A100-SXM4-80GB", 80, (8, 0), 108, 9.7, 19.5, 156, 312, 2039, 4, 300),
    "a10g": _Gpu("NVIDIA A10G", 24, (8, 6), 80, 0.49, 31.52, 35, 70, 600, 4, 20),
    "l4": _Gpu("NVIDIA L4", 24, (8, 9), 58, 0.47, 30.3, 60, 121, 300, 4, 20),
    "l40s": _Gpu("NVIDIA L40S", 48, (8, 9), 142, 1.43, 91.6, 183, 362, 864, 4, 20),
    "h100": _Gpu("NVIDIA H100 80GB HBM3", 80, (9, 0), 132, 33.5, 66.9, 494.7, 989.4, 3352, 5, 450),
    "h200": _Gpu("NVIDIA H200", 140, (9, 0), 132, 33.5, 66.9, 494.7, 989.4, 4800, 5, 450),
    "b200": _Gpu("NVIDIA B200", 180, (10, 0), 148, 37, 75, 1100, 2250, 7700, 5, 900),
    "rtx3090": _Gpu("NVIDIA GeForce RTX 3090", 24, (8, 6), 82, 0.56, 35.6, 35.6, 71, 936, 4, 20),
    "rtx4090": _Gpu("NVIDIA GeForce RTX 4090", 24, (8, 9), 128, 1.29, 82.6, 82.6, 165.2, 1008, 4, 20),
}

NAMES = tuple(_GPUS)


def spec_of(name: str) -> Spec:
    """Return the spec of a GPU by its short name, such as "a100".

    Spaces, hyphens and case in the name do not matter.

    Raises:
        ValueError: no GPU has this name; the message lists all names, and proposes the nearest.
    """
    plain = {_plain_name(known): known for known in _GPUS}
    wanted = _plain_name(name)
    if wanted in plain:
        return _GPUS[plain[wanted]].spec()
    near = difflib.get_close_matches(wanted, plain, 1)
    meant = f"did you mean {plain[near[0]]}? " if near else ""
    raise ValueError(f"no GPU of the name {name!r}; {meant}there are {', '.join(NAMES)}")


def _plain_name(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
