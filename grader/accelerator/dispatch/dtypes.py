"""Dtypes that a GPU's kernels refuse, and the CPU's kernels take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader.accelerator.core.tensor import LEGACY, SimTensor
from grader.accelerator.dispatch.record import Dispatch
from grader.accelerator.schema.facts import OperatorFacts

_WEIGHTS = {"native_layer_norm": 2, "native_group_norm": 1, "native_batch_norm": 1}
"""Where the weight stands of kernels that take it in the dtype of the input; the CPU's take float32 with half, too."""

_HALVES = (torch.float16, torch.bfloat16)


_SCALED = ("_scaled_mm", "_scaled_mm_v2", "_scaled_grouped_mm", "_scaled_grouped_mm_v2")
_NO_SCALED = "torch._scaled_mm is only supported on CUDA devices with compute capability >= 9.0 or 8.9, or ROCm MI300+"


def check_kernel(call: Dispatch) -> None:
    """Raise CUDA's error if CUDA has no kernel for a call.

    CUDA may lack a kernel of the operator, for the dtype, or for this model of GPU.
    """
    facts, shells = call.facts, call.shells
    if facts.cpu_alone:
        raise NotImplementedError(
            f"Could not run '{call.func.name()}' with arguments from the 'CUDA' backend. This could be because the "
            "operator doesn't exist for this backend, or was omitted during the selective/custom build process (if "
            "using custom build)."
        )
    if facts.lacks is not None and shells:
        kernel, dtypes = facts.lacks
        if (first := shells[0].dtype) in dtypes:
            if not kernel and torch.backends.cudnn.enabled:
                raise RuntimeError(f"getCudnnDataTypeFromScalarType() not supported for {LEGACY[first]}")
            raise _not_implemented(kernel or _convolution_kernel(*call.args), shells[0])
    if facts.scatters:
        _check_reduction(facts, call.kwargs.get("reduce") or call.args[4], shells[0])
    if facts.name == "_int_mm":
        rows, shared, columns = *shells[0].shape, shells[1].shape[-1]
        if rows <= 16:
            raise RuntimeError(f"self.size(0) needs to be greater than 16, but got {rows}")
        for name, size in (("self", shared), ("mat2", columns)):
            if size % 8 or not size:
                raise RuntimeError(f"{name}.size(1) needs to be greater than 0 and a multiple of 8, but got {size}")
    if facts.name in _SCALED and call.machine.spec.capability < (8, 9):
        raise RuntimeError(_NO_SCALED)
    if facts.name in _SCALED and {one.dtype for one in shells[:2]} == {torch.float8_e5m2}:
        raise ValueError("Multiplication of two Float8_e5m2 matrices is not supported")


def _check_reduction(facts: OperatorFacts, reduce: str, into: SimTensor) -> None:
    # Bool and complex numbers can be added up, and nothing else.
    if reduce not in ("add", "sum", "mean") and (into.dtype is torch.bool or into.dtype.is_complex):
        kernel = "fill_base_kernel_reduce_multiply" if "value" in facts.names else "gather_base_kernel_func"
        raise _not_implemented(f"cuda_scatter_{kernel}", into)


def _not_implemented(kernel: str, shell: SimTensor) -> NotImplementedError:
    word = shell._inner.type().removeprefix("torch.").removesuffix("Tensor")
    if word.startswith("sparse.") and kernel == "addmm_cuda":
        kernel = "addmm_sparse_cuda"
    word = word.removeprefix("sparse.")
    return NotImplementedError(f"\"{kernel}\" not implemented for '{word}'")


def use_gels_driver(solve: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs `linalg_lstsq` with the LAPACK driver `gels`.

    CUDA has no other driver; the function raises `RuntimeError` for any other.
    """

    def compute(*args: Any, driver: str | None = None, **named: Any) -> Any:
        if driver not in (None, "gels"):
            raise RuntimeError("torch.linalg.lstsq: `driver` other than `gels` is not supported on CUDA")
        return solve(*args, driver="gels", **named)

    return compute


def _convolution_kernel(
    data: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, *more: Any
) -> str:
    """Return the name of CUDA's kernel for a convolution that cuDNN does not take.

    For an ordinary 2-dim convolution it is "slow_conv2d_cuda".
    """
    del bias, stride, padding
    groups = more[-1]
    deep = data.dim() == 5
    if transposed:
        return f"slow_conv_transpose{3 if deep else 2}d_out_cuda"
    if groups > 1 and groups == data.shape[1] and weight.shape[0] % groups == 0:
        return "conv_depthwise3d" if deep else "conv_depthwise2d_forward_cuda"
    return "slow_conv_dilated<>" if deep or max(dilation) > 1 else "slow_conv2d_cuda"


def compares_dtypes(facts: OperatorFacts) -> bool:
    """Return whether `check_dtypes` compares the dtypes of an operator's weight and input."""
    return facts.name == "convolution" or facts.name in _WEIGHTS


def check_dtypes(call: Dispatch) -> None:
    """Raise CUDA's error if a weight has another dtype than the input."""
    facts, args, shells = call.facts, call.args, call.shells
    if not shells:
        return
    first = shells[0].dtype
    if facts.name == "convolution" and args[1].dtype is not first:
        raise RuntimeError(f"Input type ({args[0].type()}) and weight type ({args[1].type()}) should be the same")
    if place := _WEIGHTS.get(facts.name):
        weight = args[place]
        # Batch norm alone has a kernel for numbers in half precision with weights in float32.
        allowed = facts.name == "native_batch_norm" and first in _HALVES
        if weight is not None and weight.dtype is not first and not allowed:
            raise RuntimeError(f"expected scalar type {LEGACY[first]} but found {LEGACY[weight.dtype]}")
