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


def is_launch_blocking() -> bool:
    """Return whether CUDA_LAUNCH_BLOCKING makes the host wait for each kernel."""
    return os.environ.get("CUDA_LAUNCH_BLOCKING") == "1"


def cuda_error(text: str, name: str) -> Exception:
    """Return the exception that PyTorch raises for an error of CUDA's runtime.

    Its message begins with "CUDA error: device-side assert triggered", for example.

    Args:
        text: CUDA's text for the error, such as "device-side assert triggered".
        name: CUDA's name of it, such as "cudaErrorAssert".
    """
    # Whoever waits for each kernel needs no advice to do so.
    later = "" if is_launch_blocking() else LATER
    return accelerator_error(f"CUDA error: {text}\n{_HELP.format(name=name)}{later}\n{BY_COMPILER}")


def accelerator_error(text: str) -> Exception:
    """Return a `torch.AcceleratorError` with this text.

    An older PyTorch does not have that class; then the result is a `RuntimeError`.
    """
    error: type[Exception] = getattr(torch, "AcceleratorError", RuntimeError)
    return error(text)


_ORDINAL = f"GPU device may be out of range, do you have enough GPUs?{LATER}\n{BY_COMPILER}"


def invalid_ordinal_error(kind: str) -> Exception:
    """Return the exception for a device index that does not exist.

    Args:
        kind: the kind of the simulated device: "cuda" or "sim".
    """
    name = "CUDA" if kind == "cuda" else kind
    more = _ORDINAL if kind == "cuda" else ""
    return accelerator_error(f"{name} error: invalid device ordinal\n{more}")
