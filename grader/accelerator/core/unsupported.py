"""Errors for operators and layouts that the simulated device does not support."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.sparse import LAYOUTS
from grader.accelerator.refusals import refusal


def refuse_unsupported_layout(func: Any, value: torch.Tensor) -> None:
    """Raise `NotImplementedError` for a result in a layout that the device does not support.

    The result of an operator may be dense, or sparse in one of `LAYOUTS`.
    """
    # mkldnn's tensors have a layout of their own.
    layout = value.layout
    if (layout is not torch.strided and layout not in LAYOUTS) or value.is_nested or value.is_quantized:
        # A wrapper has sizes and strides over one storage, which nothing but a dense tensor has.
        kind = "nested" if value.is_nested else "quantized" if value.is_quantized else str(value.layout)
        raise unsupported_error(func, f"its result is {kind}")


def unsupported_error(func: Any, why: str) -> NotImplementedError:
    """Return the `NotImplementedError` to raise for an operator that is not supported.

    The call counts as refused.

    Args:
        func: the operator.
        why: the reason, for the error's text, such as "its result is nested".
    """
    return refusal(f"The operator '{func.name()}' is not supported on the simulated device: {why}.")


STRIDED = (
    "nested tensors in the strided layout are not supported on the simulated device; make them with layout=torch.jagged"
)


def refuse_strided_nested(tensor: torch.Tensor) -> None:
    """Raise `NotImplementedError` for a nested tensor that is not in the jagged layout."""
    if tensor.is_nested and tensor.layout is not torch.jagged:
        raise refusal(STRIDED)
