"""Mixed precision: `torch.autocast` on a simulated device, by CUDA's rules of dtypes."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch._C import DispatchKey, DispatchKeySet

from grader.accelerator.schema.facts import ATEN
from grader.accelerator.sim.machine import INNER

# The lists are those of CUDA, from ATen/autocast_mode.h of torch 2.13; an operator that a version lacks is left out.
_LOWER = (
    *("_convolution.deprecated", "_convolution", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d"),
    *("conv_transpose2d.input", "conv_transpose3d.input", "convolution", "prelu", "addmm", "addmv", "addr", "matmul"),
    *("einsum", "mm", "mv", "linalg_vecdot", "linear", "addbmm", "baddbmm", "bmm", "chain_matmul", "linalg_multi_dot"),
    *("_thnn_fused_lstm_cell", "_thnn_fused_gru_cell", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"),
    *("_scaled_dot_product_flash_attention", "scaled_dot_product_attention"),
)

_HALF = (
    # On CUDA these come to cuDNN's kernel, which casts all arguments to float16, for any dtype of the program's.
    *("lstm.input", "lstm.data", "gru.input", "gru.data"),
    *("rnn_tanh.input", "rnn_tanh.data", "rnn_relu.input", "rnn_relu.data"),
)

_FULL = (
    *("acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p", "reciprocal", "rsqrt", "sinh"),
    *("tan", "pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar", "softplus", "layer_norm", "native_layer_norm"),
    *("rms_norm", "group_norm", "frobenius_norm.dim", "nuclear_norm", "nuclear_norm.dim", "cosine_similarity"),
    *("poisson_nll_loss", "cosine_embedding_loss", "nll_loss", "nll_loss2d", "hinge_embedding_loss", "kl_div"),
    *("l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss", "margin_ranking_loss", "multilabel_margin_loss"),
    *("soft_margin_loss", "triplet_margin_loss", "multi_margin_loss", "binary_cross_entropy_with_logits", "dist"),
    *("pdist", "cdist", "renorm", "logsumexp", "upsample_nearest1d", "_upsample_nearest_exact1d"),
    *("upsample_nearest2d", "_upsample_nearest_exact2d", "upsample_nearest3d", "_upsample_nearest_exact3d"),
    *("upsample_linear1d", "upsample_bilinear2d", "_upsample_bilinear2d_aa", "upsample_trilinear3d"),
    *("upsample_bicubic2d", "_upsample_bicubic2d_aa", "norm.Scalar", "norm.ScalarOpt_dim"),
)

_FULL_BY_DTYPE = (
    *("prod", "prod.dim_int", "softmax.int", "log_softmax.int", "cumprod", "cumsum", "linalg_vector_norm"),
    *("linalg_matrix_norm", "linalg_matrix_norm.str_ord", "sum", "sum.dim_IntList"),
)

_WIDEST = (
    *("addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "vdot", "grid_sampler", "index_put", "tensordot"),
    *("scatter_add",),
)

_UNSAFE = """torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.
Many models use a sigmoid layer right before the binary cross entropy layer.
In this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits
or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are
safe to autocast."""

_KEY = DispatchKeySet(DispatchKey.AutocastPrivateUse1)  # type: ignore[attr-defined]

_Without: Any = torch._C._ExcludeDispatchKeyGuard


class _CastCache:
    """The cache of cast weights, so that each is cast once; cleared when the outermost autocast region ends."""

    def __init__(self) -> None:
        self.casts: dict[tuple[int, torch.dtype, bool], tuple[weakref.ref[torch.Tensor], torch.Tensor]] = {}

    def cast(self, tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """Return a tensor cast to a dtype.

        The cast of a leaf that requires a gradient is cached.
        """
        if not (tensor.requires_grad and tensor.is_leaf and torch.is_autocast_cache_enabled()):
            return tensor.to(dtype)
        # Without gradients a cast does not belong to a graph, and must not be taken for one that does.
        key = id(tensor), dtype, torch.is_grad_enabled()
        known = self.casts.get(key)
        # Another tensor may have the address of one that is gone.
        if known is None or known[0]() is not tensor:
            self.casts[key] = known = weakref.ref(tensor), tensor.to(dtype)
        return known[1]


CAST_CACHE = _CastCache()


@functools.cache
def register() -> list[torch.library.Library]:
    """Register the casts of operators within `torch.autocast`.

    There, `torch.mm` of tensors in float32 computes in half precision. The libraries that keep the casts registered are
    returned.
    """
    # What is on no list runs as it does without.
    others = torch.library.Library("_", "IMPL")
    others.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    library = torch.library.Library("aten", "IMPL")
    rules = [
        (_LOWER, _cast_to_lower()),
        (_HALF, _cast_to_lower(torch.float16)),
        (_FULL, _cast_to_float32),
        (_FULL_BY_DTYPE, _add_float32_dtype),
        (_WIDEST, _cast_to_widest),
    ]
    for names, rule in [*rules, (("binary_cross_entropy",), _refuse_unsafe)]:
        for name in names:
            packet, _, overload = name.partition(".")
            if (operator := getattr(getattr(ATEN, packet, None), overload or "default", None)) is not None:
                library.impl(name, _kernel_with_rule(operator, rule), "AutocastPrivateUse1")
    return [others, library]


def _kernel_with_rule(operator: Any, rule: Callable[..., tuple[Any, Any]]) -> Any:
    def run(*args: Any, **kwargs: Any) -> Any:
        with _Without(_KEY):
            args, kwargs = rule(operator, args, kwargs)
            return operator(*args, **kwargs)

    return run


def _may_be_cast(value: Any) -> bool:
    """Return True if autocast may cast a value.

    Such a value is a floating-point tensor on the device, but not of float64.
    """
    return (
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and value.dtype is not torch.float64
        and torch._C.TensorBase.device.__get__(value).type == INNER
    )


def _map_tensors(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_map_tensors(item, change) for item in value)
    if isinstance(value, dict):
        return {name: _map_tensors(item, change) for name, item in value.items()}
    return change(value) if _may_be_cast(value) else value


def _cast_to_lower(always: torch.dtype | None = None) -> Callable[..., tuple[Any, Any]]:
    """Return a rule that casts the arguments of an operator to a half-precision dtype.

    The rule takes the operator, its positional and its keyword arguments, and returns both kinds of arguments.

    Args:
        always: the dtype; None means the dtype of the autocast region that is active in the call.
    """

    def rule(operator: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        del operator
        dtype = always or torch.get_autocast_dtype(INNER)

        def change(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.dtype is dtype:
                return tensor
            return CAST_CACHE.cast(tensor, dtype) if tensor.dtype is torch.float32 else tensor.to(dtype)

        return _map_tensors(args, change), _map_tensors(kwargs, change)

    return rule


def _cast_to_float32(operator: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    del operator
    return _map_tensors(args, torch.Tensor.float), _map_tensors(kwargs, torch.Tensor.float)


def _add_float32_dtype(operator: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Return the arguments of an operator, with `dtype=torch.float32` if no dtype is given.

    For `x.sum()` they become `(x,)` and `{"dtype": torch.float32}`, but only if autocast may cast `x`, the first
    argument.
    """
    names = [argument.name for argument in operator._schema.arguments]
    given = dict(zip(names, args, strict=False)) | kwargs
    if _may_be_cast(args[0]) and given.get("dtype") is None:
        return args, kwargs | {"dtype": torch.float32}
    return args, kwargs


def _cast_to_widest(operator: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Return the arguments cast to float32 if one of them is float32, else unchanged.

    Raises:
        RuntimeError: an argument with a half-precision dtype other than autocast's comes before all arguments of
            float32.
    """
    del operator
    dtypes_given: list[torch.dtype] = []
    _map_tensors((args, kwargs), lambda tensor: dtypes_given.append(tensor.dtype) or tensor)  # type: ignore[func-returns-value]
    lower = torch.get_autocast_dtype(INNER)
    widest = lower
    for dtype in dtypes_given:
        # One after another, as CUDA does: the other dtype of 16 bits is not expected before a float32.
        if torch.float32 in (widest, dtype):
            widest = torch.float32
        elif dtype is not lower:
            raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return _cast_to_float32(None, args, kwargs) if widest is torch.float32 else (args, kwargs)


def _refuse_unsafe(operator: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    del operator, args, kwargs
    raise RuntimeError(_UNSAFE)
