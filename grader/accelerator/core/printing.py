"""The text of a tensor on a simulated device, as PyTorch prints one on a GPU."""

from __future__ import annotations

from typing import Any

import torch
from torch._tensor_str import _add_suffixes, _tensor_str

_INFERRED = (torch.int64, torch.bool)


def text_of(wrapper: Any, inner: torch.Tensor, contents: str | None = None) -> str:
    """Return the text that `repr` shows of a tensor on the device.

    For example: "tensor([1., 2.], device='cuda:0')".

    Args:
        wrapper: the tensor on the device, whose device and `grad_fn` are shown.
        inner: the CPU tensor with its numbers.
        contents: a text to show in place of the numbers.
    """
    parameter = getattr(wrapper, "_is_param", False)
    # PyTorch's own function would run operators on the device to choose the digits. Each would be counted, as if the
    # program had asked for it; so the parts are put together here, from the CPU tensor.
    plain = getattr(type(wrapper), "stands_for", torch.Tensor)
    prefix = "tensor(" if plain in (torch.Tensor, torch.nn.Parameter) else f"{plain.__name__}("
    suffixes = [f"device='{wrapper.device}'"]
    if inner.numel() == 0:
        if inner.dim() != 1:
            suffixes.append(f"size={tuple(inner.shape)}")
        if inner.dtype != torch.get_default_dtype():
            suffixes.append(f"dtype={inner.dtype}")
        body = "[]"
    else:
        if inner.dtype not in (*_INFERRED, torch.get_default_dtype(), _default_complex()):
            suffixes.append(f"dtype={inner.dtype}")
        body = _tensor_str(inner, len(prefix))
    if wrapper.grad_fn is not None:
        # Custom functions written in C++ all have one type; they know their own name.
        name = type(wrapper.grad_fn).__name__
        suffixes.append(f"grad_fn=<{wrapper.grad_fn.name().rpartition('::')[2] if name == 'CppFunction' else name}>")
    elif wrapper.requires_grad:
        suffixes.append("requires_grad=True")
    text = _add_suffixes(prefix + (contents if contents is not None else body), suffixes, len(prefix), False)
    return f"Parameter containing:\n{text}" if parameter else text


def _default_complex() -> torch.dtype:
    return torch.complex128 if torch.get_default_dtype() == torch.float64 else torch.complex64
