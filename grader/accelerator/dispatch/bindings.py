"""Functions of PyTorch's Python interface that run an operator, and parse its arguments faster than the operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

METHODS = frozenset(
    (
        *("view.default", "t.default", "transpose.int", "detach.default", "unsqueeze.default", "expand.default"),
        *("select.int", "permute.default", "squeeze.dim", "squeeze.default", "as_strided.default"),
        *("mul.Tensor", "add.Tensor", "sub.Tensor", "div.Tensor", "mul.Scalar", "div.Scalar"),
        *("mul_.Tensor", "add_.Tensor", "sub_.Tensor", "div_.Tensor", "mul_.Scalar", "div_.Scalar"),
        *("gt.Scalar", "ge.Scalar", "lt.Scalar", "le.Scalar", "eq.Scalar", "ne.Scalar", "eq.Tensor"),
        *("neg.default", "exp.default", "sqrt.default", "rsqrt.default", "sin.default", "cos.default", "tanh.default"),
        *("sigmoid.default", "addcmul_.default", "addcdiv_.default", "bitwise_and.Tensor", "masked_fill.Scalar"),
        *("sum.dim_IntList", "sum.default", "mean.dim", "mean.default", "mm.default", "bmm.default", "mv.default"),
        *("clone.default", "index_select.default", "gather.default", "index_add.default", "index_add_.default"),
        *("flip.default", "roll.default", "repeat.default", "nonzero.default", "argmax.default"),
    )
)
"""Operators that a method runs for the same arguments by position."""

FUNCTIONS = frozenset(
    (
        *("addmm.default", "cat.default", "stack.default", "relu.default", "embedding.default", "rsub.Scalar"),
        *("convolution.default", "native_layer_norm.default", "native_batch_norm.default"),
        *("_softmax.default", "_log_softmax.default"),
        *("_softmax_backward_data.default", "_log_softmax_backward_data.default"),
    )
)
"""Operators that a function of C++ runs for the same arguments by position."""


FACTORIES = frozenset(
    (
        *("empty.memory_format", "empty_strided.default", "zeros_like.default", "ones_like.default"),
        *("empty_like.default", "new_zeros.default", "new_empty.default"),
    )
)
"""Operators that a function or a method runs for the same arguments by position and by name."""


def binding_of(func: Any) -> Callable[..., Any] | None:
    """Return the function that runs an operator for CPU tensors and arguments by position.

    It is None for an operator that is on none of the lists above.
    """
    name = _name_of(func)
    base = name.partition(".")[0]
    # C++'s own: those of `torch` and of `torch.Tensor` may be replaced.
    if name in METHODS or (name in FACTORIES and base.startswith("new_")):
        return getattr(torch._C.TensorBase, base)  # type: ignore[no-any-return]
    return getattr(torch._C._VariableFunctions, base) if name in FUNCTIONS or name in FACTORIES else None


def takes_names(func: Any) -> bool:
    """Return whether the binding of an operator takes all arguments by name that the operator takes."""
    return _name_of(func) in FACTORIES


def _name_of(func: Any) -> str:
    return str(func).removeprefix("aten.")
