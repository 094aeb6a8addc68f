"""Operators that have no deterministic kernel on CUDA, as `torch.use_deterministic_algorithms` lists them."""

from __future__ import annotations

import warnings
from typing import Any

import torch

_CALLERS = {
    "avg_pool3d_backward": "avg_pool3d_backward_{}",
    "_adaptive_avg_pool2d_backward": "adaptive_avg_pool2d_backward_{}",
    "_adaptive_avg_pool3d_backward": "adaptive_avg_pool3d_backward_{}",
    "adaptive_max_pool2d_backward": "adaptive_max_pool2d_backward_{}",
    "fractional_max_pool2d_backward": "fractional_max_pool2d_backward_{}",
    "fractional_max_pool3d_backward": "fractional_max_pool3d_backward_{}",
    "upsample_linear1d_backward": "upsample_linear1d_backward_out_{}",
    "upsample_bilinear2d_backward": "upsample_bilinear2d_backward_out_{}",
    "upsample_bicubic2d_backward": "upsample_bicubic2d_backward_out_{}",
    "upsample_trilinear3d_backward": "upsample_trilinear3d_backward_out_{}",
    "reflection_pad1d_backward": "reflection_pad1d_backward_out_{}",
    "reflection_pad3d_backward": "reflection_pad3d_backward_out_{}",
    "replication_pad1d_backward": "replication_pad1d_backward_{}",
    "replication_pad2d_backward": "replication_pad2d_backward_{}",
    "replication_pad3d_backward": "replication_pad3d_backward_{}",
    "nll_loss2d_forward": "nll_loss2d_forward_out_{}_template",
    "_ctc_loss_backward": "ctc_loss_backward_gpu",
    "_embedding_bag_backward": "embedding_bag_backward_{}_max",
    "_embedding_bag_dense_backward": "embedding_bag_backward_{}_max",
    "put": "put_",
    "max_unpool2d": "max_unpooling2d_forward_out",
    "max_unpool3d": "max_unpooling3d_forward_out",
    "histc": "_histc_{} with floating point input",
    "bincount": "_bincount_{}",
    "grid_sampler_2d_backward": "grid_sampler_2d_backward_{}",
    "grid_sampler_3d_backward": "grid_sampler_3d_backward_{}",
    "median": "median {} with indices output",
    "nanmedian": "median {} with indices output",
    "scatter_reduce": "scatter_reduce_{}_prod_",
    "scatter": "scatter_reduce_{}_kernel",
    "index_reduce": "index_reduce_{}",
    "_upsample_bilinear2d_aa_backward": "upsample_bilinear2d_aa_backward_out_{}",
    "_upsample_bicubic2d_aa_backward": "upsample_bicubic2d_aa_backward_out_{}",
}
"""Who complains, by operator, with the device's kind left open."""

_TEXT = "{} does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True{})'. "
_REPORT = (
    "ile an issue at https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic support for "
    "this operation."
)
_MAX = 2
"""The number of the mode "max" of `embedding_bag`."""
_NO_REDUCTION = 0
"""The number of the reduction "none"."""
_MODES = {"_embedding_bag_backward": 8, "_embedding_bag_dense_backward": 7}
"""The position of the mode among the arguments."""


def name_in_error(name: str, results: int) -> str:
    """Return the name of an operator in PyTorch's error about determinism.

    For "bincount" it is "_bincount_{}", where {} stands for the kind of the device. It is "" if the operator has a
    deterministic kernel.

    Args:
        name: the name of the operator.
        results: the number of tensors that it returns.
    """
    # Without a dim, the median has no indices, and is found in one way.
    if name in ("median", "nanmedian") and results < 2:
        return ""
    return _CALLERS.get(name.removesuffix("_"), "")


def check_deterministic(caller: str, name: str, kind: str, args: Any, kwargs: Any) -> None:
    """Raise or warn if an operator call is not deterministic on CUDA.

    `torch.use_deterministic_algorithms` decides whether this function raises, warns or does nothing.

    Args:
        caller: the operator's name in the error, as `name_in_error` returns it.
        name: the name of the operator.
        kind: the kind of the simulated device: "cuda" or "sim".
        args: the arguments of the operator.
        kwargs: its arguments by name.

    Raises:
        RuntimeError: `torch.use_deterministic_algorithms` is on, and does not only warn.
    """
    if not torch.are_deterministic_algorithms_enabled() or _is_deterministic_call(name, args, kwargs):
        return
    # Sentences name the kind in capital letters, functions in small ones.
    caller = caller.format(kind.upper() if " {}" in caller else kind)
    if torch.is_deterministic_algorithms_warn_only_enabled():
        warnings.warn(_TEXT.format(caller, ", warn_only=True") + "You can f" + _REPORT, UserWarning, stacklevel=4)
        return
    raise RuntimeError(
        _TEXT.format(caller, "") + "You can turn off determinism just for this operation, or you can use the "
        "'warn_only=True' option, if that's acceptable for your application. You can also f" + _REPORT
    )


def _is_deterministic_call(name: str, args: Any, kwargs: Any) -> bool:
    """Return whether this call of an operator is deterministic on CUDA.

    `x.bincount()` is; `x.bincount(weights)` is not.
    """
    name = name.removesuffix("_")
    if name in _MODES:
        place = _MODES[name]
        return int(args[place] if len(args) > place else kwargs.get("mode", _MAX)) != _MAX
    if name == "scatter_reduce":
        return bool(args[4] != "prod")
    if name == "scatter":  # one that reduces
        return kwargs.get("reduce") is None
    if name == "nll_loss2d_forward":  # without a reduction nothing is added up
        return int(args[3] if len(args) > 3 else kwargs["reduction"]) == _NO_REDUCTION
    if name == "bincount":  # without weights, whole numbers are added
        return (args[1] if len(args) > 1 else kwargs.get("weights")) is None
    return name == "histc" and not args[0].is_floating_point()
