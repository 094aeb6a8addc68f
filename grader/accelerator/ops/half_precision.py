"""Operators whose kernels take half precision on a GPU and not on the CPU: computed in float32, and rounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_HALVES = (torch.float16, torch.bfloat16)

# From `torch.testing._internal`: the operators of `op_db` whose dtypes for CUDA have more of the two than the CPU's.
_ON_GPU_ALONE = frozenset(
    {
        *("avg_pool3d", "avg_pool3d_backward", "rrelu_with_noise", "rrelu_with_noise_backward", "polygamma"),
        *("multi_margin_loss", "multi_margin_loss_backward"),
        *("multilabel_margin_loss_forward", "multilabel_margin_loss_backward"),
        *("_upsample_bilinear2d_aa", "_upsample_bilinear2d_aa_backward"),
    }
)


def compute_in_float32(func: Any, name: str) -> Callable[..., Any]:
    """Return a function that runs an operator in float32 for arguments in half precision.

    It is needed where the CPU has no kernel for half precision, but a GPU has one, as for `polygamma`. For any other
    operator, `func` itself is returned.
    """
    return _compute_halves_in_float32(func) if name.removesuffix("_") in _ON_GPU_ALONE else func


def _compute_halves_in_float32(func: Any) -> Callable[..., Any]:
    """Return a function that runs an operator on float32 copies of half-precision arguments.

    The function rounds the results to half precision.
    """
    schema = func._schema.arguments
    writes = {argument.name for argument in schema if argument.alias_info is not None and argument.alias_info.is_write}

    def compute(*args: Any, **kwargs: Any) -> Any:
        given = {argument.name: arg for argument, arg in zip(schema, args, strict=False)} | kwargs
        halves = {name: arg for name, arg in given.items() if _is_half(arg)}
        if not halves:
            return func(*args, **kwargs)
        wide = {name: arg.float() for name, arg in halves.items()}
        out = func(**given | wide)
        # What it wrote to is rounded into the argument itself.
        written = {id(wide[name]): halves[name].copy_(wide[name]) for name in wide.keys() & writes}
        return _round_to_dtype(out, written, next(iter(halves.values())).dtype)

    return compute


def _is_half(arg: Any) -> bool:
    return isinstance(arg, torch.Tensor) and arg.dtype in _HALVES


def _round_to_dtype(out: Any, written: dict[int, torch.Tensor], dtype: torch.dtype) -> Any:
    if isinstance(out, (tuple, list)):
        return type(out)(_round_to_dtype(one, written, dtype) for one in out)
    if id(out) in written:
        return written[id(out)]
    return out.to(dtype) if isinstance(out, torch.Tensor) and out.dtype is torch.float32 else out
