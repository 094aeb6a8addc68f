"""Deep copies and pickles of tensors on a simulated device."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch

from grader.accelerator.core.attributes import attributes_of_program
from grader.accelerator.core.storage import cpu_view_of


def deep_copy(tensor: Any, memo: dict[int, Any], wrap: Callable[..., Any]) -> Any:
    """Return a deep copy of a tensor on a simulated device, as `copy.deepcopy` does.

    Args:
        tensor: a tensor on a simulated device.
        memo: the copies that exist already, by the identity of the original.
        wrap: the function that wraps a CPU tensor as a tensor on a device.
    """
    if id(tensor) in memo:
        return memo[id(tensor)]
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
            "moment.  If you were attempting to deepcopy a module, this may be because of a torch.nn.utils."
            "weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
        )
    # Through `memo` a storage is copied once, so that tensors that shared it share the copy.
    storage = copy.deepcopy(tensor.untyped_storage(), memo)
    with torch.no_grad():
        inner = cpu_view_of(tensor.dtype, storage, tensor.storage_offset(), tensor.size(), tensor._inner.stride())
        inner = _with_bits(inner, tensor._inner)
    made = wrap(inner, tensor._place)
    made.__class__ = type(tensor)
    # Before the gradient and the attributes are copied: they may lead back to this tensor.
    memo[id(tensor)] = made
    if tensor.requires_grad:
        made.requires_grad_()
    if tensor.grad is not None:
        made.grad = copy.deepcopy(tensor.grad, memo)
    _keep_extras(tensor, made, memo)
    return made


def reduce_ex_value(tensor: Any) -> Any:
    """Return the function that rebuilds a tensor on the device, and its arguments.

    The `__reduce_ex__` of the tensor returns them to pickle. For example, they are `torch._utils._rebuild_tensor_v2`
    and `(storage, 0, (2,), (1,), False, OrderedDict())`. The function is one of PyTorch's own.
    """
    # PyTorch's own functions are named, none of ours: a file can be read where this package is not. The storage tells
    # the device, and `torch.save` writes that.
    inner = tensor._inner
    storage = tensor._typed_storage()
    hooks: OrderedDict[Any, Any] = OrderedDict()
    layout = (storage, inner.storage_offset(), tuple(inner.size()), inner.stride())
    # The class of a parameter on the device is that of every tensor there; only this mark tells them apart.
    if getattr(tensor, "_is_param", False):
        return torch._utils._rebuild_parameter, (tensor.data, tensor.requires_grad, hooks)
    if inner.is_conj() or inner.is_neg():
        bits = {name: True for name, on in (("conj", inner.is_conj()), ("neg", inner.is_neg())) if on}
        return torch._utils._rebuild_tensor_v2, (*layout, tensor.requires_grad, hooks, bits)
    return torch._utils._rebuild_tensor_v2, (*layout, tensor.requires_grad, hooks)


def _with_bits(made: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    if like.is_conj():
        made = made.conj()
    return torch._neg_view(made) if like.is_neg() else made


def _keep_extras(old: Any, new: Any, memo: dict[int, Any]) -> None:
    # What other code hung on the tensor is copied; what we hang on it was made for the new one.
    for name, value in attributes_of_program(old).items():
        setattr(new, name, copy.deepcopy(value, memo))
