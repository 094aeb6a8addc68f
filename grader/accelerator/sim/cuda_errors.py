"""Errors of CUDA's runtime, in the words and the class that PyTorch has for them."""

from __future__ import annotations

import os

import torch

_HELP = """Search for `{name}' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for \
more information."""

LATER = """
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1"""

BY_COMPILER = "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"


def launches_block() -> bool:
    """Return whether the host waits for each kernel, which CUDA does if this variable is set."""
    return os.environ.get("CUDA_LAUNCH_BLOCKING") == "1"


def cuda_error(said: str, name: str) -> Exception:
    """Return an error of CUDA's, as PyTorch words it."""
    # Whoever waits for each kernel needs no advice to do so.
    later = "" if launches_block() else LATER
    return of_accelerator(f"CUDA error: {said}\n{_HELP.format(name=name)}{later}\n{BY_COMPILER}")


def of_accelerator(text: str) -> Exception:
    """Return an error of the class that this version of PyTorch has for devices."""
    error: type[Exception] = getattr(torch, "AcceleratorError", RuntimeError)
    return error(text)


_ORDINAL = f"GPU device may be out of range, do you have enough GPUs?{LATER}\n{BY_COMPILER}"


def invalid_ordinal(kind: str) -> Exception:
    """Return the error for an index without a device."""
    name = "CUDA" if kind == "cuda" else kind
    more = _ORDINAL if kind == "cuda" else ""
    return of_accelerator(f"{name} error: invalid device ordinal\n{more}")
