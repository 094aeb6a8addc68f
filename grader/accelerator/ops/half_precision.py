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
    operator, `func` itself is returned. So do products with an `out_dtype`, such as `torch.mm(a, b, out_dtype=...)`,
    which the CPU lacks for every dtype.
    """
    if name in _PRODUCTS and func._overloadname in ("dtype", "dtype_out"):
        return _product_with_out_dtype(name)
    return _compute_halves_in_float32(func) if name.removesuffix("_") in _ON_GPU_ALONE else func


_PRODUCTS = ("mm", "bmm", "addmm", "baddbmm")

_OUT_DTYPE = "out_dtype must be the same as input dtype or fp32 for fp16/bf16 inputs"


def _product_with_out_dtype(name: str) -> Callable[..., Any]:
    """Return a function that multiplies matrices, and returns the product in the dtype `out_dtype`.

    The errors are those of Blas.cpp.

    Args:
        name: the name of the product, such as "mm".
    """
    plain: Any = getattr(torch, name)
    count = 2 if name in ("mm", "bmm") else 3

    def compute(*args: Any, out: torch.Tensor | None = None, **kwargs: Any) -> Any:
        given, out_dtype = args[:count], args[count]
        dtype = given[-1].dtype
        if out_dtype != dtype and not (out_dtype is torch.float32 and dtype in _HALVES):
            raise RuntimeError(_OUT_DTYPE)
        if out is not None and out.dtype != out_dtype:
            raise RuntimeError("out_dtype must be the same as the dtype of the provided out tensor")
        if given[-2].dtype != dtype:
            raise RuntimeError("input dtypes must be the same")
        if count == 3 and given[0].dtype not in (out_dtype, dtype):
            raise RuntimeError(
                f"self dtype must match either out_dtype or {'mat1' if name == 'addmm' else 'batch1'} dtype"
            )
        made = plain(*(one.to(out_dtype) for one in given), **kwargs)
        return made if out is None else out.resize_(made.shape).copy_(made)

    return compute


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
