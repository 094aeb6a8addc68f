"""What a GPU's kernels refuse of dtypes, and the CPU's compute."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.facts import Facts
from grader.accelerator.tensor import LEGACY, SimTensor

_WEIGHTS = {"native_layer_norm": 2, "native_group_norm": 1, "native_batch_norm": 1}
"""Where the weight stands of kernels that take it in the dtype of the input; the CPU's take float32 with half, too."""

_HALVES = (torch.float16, torch.bfloat16)


def check_dtypes(facts: Facts, args: Any, shells: list[SimTensor]) -> None:
    """Raise as CUDA does where it has no kernel for integers, or for operands of two dtypes."""
    if not shells:
        return
    first = shells[0].dtype
    if facts.no_integers and not (first.is_floating_point or first.is_complex):
        raise RuntimeError(f"\"{facts.no_integers}\" not implemented for '{LEGACY[first]}'")
    if facts.name == "convolution" and args[1].dtype is not first:
        raise RuntimeError(f"Input type ({args[0].type()}) and weight type ({args[1].type()}) should be the same")
    if place := _WEIGHTS.get(facts.name):
        weight = args[place]
        # Batch norm alone has a kernel for numbers in half precision with weights in float32.
        allowed = facts.name == "native_batch_norm" and first in _HALVES
        if weight is not None and weight.dtype is not first and not allowed:
            raise RuntimeError(f"expected scalar type {LEGACY[first]} but found {LEGACY[weight.dtype]}")
