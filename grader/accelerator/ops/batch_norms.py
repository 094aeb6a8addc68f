"""The parts of `nn.SyncBatchNorm`, which CUDA alone has kernels for, as formulas on the CPU tensors inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_Pair = tuple[torch.Tensor, torch.Tensor]


def _as_float32(x: torch.Tensor) -> torch.Tensor:
    """Return a tensor in half precision as float32.

    A GPU adds it up in float32. Any other tensor is returned unchanged.
    """
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _by_channel(x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return _as_float32(x).view(1, -1, *[1] * (like.dim() - 2))


def _all_but_channels(x: torch.Tensor) -> list[int]:
    return [dim for dim in range(x.dim()) if dim != 1]


def _stats(x: torch.Tensor, eps: float) -> _Pair:
    var, mean = torch.var_mean(_as_float32(x), _all_but_channels(x), correction=0)
    return mean, (var + eps).rsqrt()


def _gather_stats_with_counts(
    x: torch.Tensor,
    means: torch.Tensor,
    inverses: torch.Tensor,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    momentum: float,
    eps: float,
    counts: torch.Tensor,
) -> _Pair:
    """Return the mean and the inverse standard deviation of each channel over all processes.

    The running statistics are updated in place.

    Args:
        x: not used.
        means: the means in each process, of shape (processes, channels).
        inverses: the inverse standard deviations in each process, of the same shape.
        running_mean: the running mean, of shape (channels,), or None.
        running_var: the running variance, of shape (channels,), or None.
        momentum: the weight of the new statistics in the running ones.
        eps: the number that is added to a variance.
        counts: the number of elements of a channel in each process.
    """
    del x
    shares = counts.to(means.dtype)[:, None]
    total = shares.sum()
    mean = (means * shares).sum(0) / total
    squares = ((inverses**-2 - eps + (means - mean) ** 2) * shares).sum(0)
    if running_mean is not None:
        running_mean.lerp_(mean.to(running_mean.dtype), momentum)
    if running_var is not None:
        running_var.lerp_((squares / (total - 1)).to(running_var.dtype), momentum)
    return mean, (squares / total + eps).rsqrt()


def _gather_stats(x: torch.Tensor, means: torch.Tensor, *args: Any) -> _Pair:
    # At last there is one count, which holds for every process.
    with_counts: Any = _gather_stats_with_counts
    return with_counts(x, means, *args[:-1], torch.full(means.shape[:1], float(args[-1])))  # type: ignore[no-any-return]


def _apply(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    mean: torch.Tensor,
    inverse: torch.Tensor,
    eps: float,
) -> torch.Tensor:
    del eps
    made = (_as_float32(x) - _by_channel(mean, x)) * _by_channel(inverse if weight is None else inverse * weight, x)
    return (made if bias is None else made + _by_channel(bias, x)).to(x.dtype)


def _reduce(
    grad: torch.Tensor,
    x: torch.Tensor,
    mean: torch.Tensor,
    inverse: torch.Tensor,
    weight: torch.Tensor | None,
    for_input: bool,
    for_weight: bool,
    for_bias: bool,
) -> tuple[torch.Tensor | None, ...]:
    """Return two sums over this process's batch, and the gradients of weight and bias.

    `_backward` needs the two sums.

    Returns:
        The sum of the gradient by channel, and that of the gradient times the centered input: None unless `for_input`.
        The gradient of the weight: None unless `for_weight`. The gradient of the bias: None unless `for_bias`.
    """
    dims, wide = _all_but_channels(x), _as_float32(grad)
    total = wide.sum(dims)
    weighted = (wide * (_as_float32(x) - _by_channel(mean, x))).sum(dims)
    kind = mean.dtype if weight is None else weight.dtype
    return (
        *((total, weighted) if for_input else (None, None)),
        (weighted * inverse).to(kind) if for_weight else None,
        total.to(kind) if for_bias else None,
    )


def _backward(
    grad: torch.Tensor,
    x: torch.Tensor,
    mean: torch.Tensor,
    inverse: torch.Tensor,
    weight: torch.Tensor | None,
    total: torch.Tensor,
    weighted: torch.Tensor,
    counts: torch.Tensor,
) -> torch.Tensor:
    """Return the gradient of the input of `nn.SyncBatchNorm`, for this process's batch.

    Args:
        grad: the gradient of the output.
        x: the input.
        mean: the mean of each channel, over all processes.
        inverse: the inverse standard deviation of each channel, over all processes.
        weight: the weight, if there is one.
        total: the gradient of the output, summed by channel over all processes.
        weighted: the gradient of the output times the centered input, summed in the same way.
        counts: the number of elements of a channel in each process.
    """
    count = counts.sum()
    slope = _by_channel(weighted / count * inverse**2, x)
    made = _as_float32(grad) - _by_channel(total / count, x) - (_as_float32(x) - _by_channel(mean, x)) * slope
    return (made * _by_channel(inverse if weight is None else inverse * weight, x)).to(x.dtype)


KERNELS: dict[str, Callable[..., Any]] = {
    "batch_norm_stats": _stats,
    "batch_norm_gather_stats": _gather_stats,
    "batch_norm_gather_stats_with_counts": _gather_stats_with_counts,
    "batch_norm_elemt": _apply,
    "batch_norm_backward_reduce": _reduce,
    "batch_norm_backward_elemt": _backward,
}
"""The formulas, by the names of the operators."""
