"""Recurrent layers keep their weights in one block of memory, as cuDNN wants them, and warn where they are not."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from typing import Any

import torch

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine

_APART = (
    "RNN module weights are not part of single contiguous chunk of memory. This means they need to be compacted at "
    "every call, possibly greatly increasing memory usage. To compact weights again call flatten_parameters()."
)


def install(machine: Machine) -> None:
    """Make `flatten_parameters` join the weights of a recurrent layer in one storage.

    A layer whose weights are not joined warns in each call.
    """
    del machine
    original: Any = torch.nn.RNNBase.flatten_parameters

    def flatten_parameters(self: Any) -> None:
        weights = self._flat_weights
        if len(weights) == len(self._flat_weights_names) and _can_be_joined(weights):
            _join_into_one_storage(weights, 2 if self.bias else 0, bool(self.proj_size))
        else:
            original(self)

    put(torch.nn.RNNBase, "flatten_parameters", flatten_parameters)
    put(torch.backends.cudnn, "is_acceptable", _is_acceptable)
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        put(torch._VF, name, _wrap_with_warning(getattr(torch._VF, name)))


def _is_acceptable(tensor: Any) -> bool:
    """Return whether cuDNN accepts a tensor.

    It replaces `torch.backends.cudnn.is_acceptable`, and returns what that function returns on a GPU.
    """
    cudnn: Any = torch.backends.cudnn
    return isinstance(tensor, SimTensor) and cudnn.enabled and tensor.dtype in cudnn.CUDNN_TENSOR_DTYPES


def _can_be_joined(weights: Sequence[Any]) -> bool:
    """Return whether `RNNBase.flatten_parameters` would join these weights in one storage.

    It would if cuDNN accepts each of them, all have the same dtype, and no two of them begin at the same address.
    """
    if not all(map(_is_acceptable, weights)) or len({weight.dtype for weight in weights}) > 1:
        return False
    return len({weight.data_ptr() for weight in weights}) == len(weights)


def _in_cudnn_order(weights: Sequence[torch.Tensor], biases: int, projects: bool) -> list[torch.Tensor]:
    """Return the weights in cuDNN's order: the matrices of all layers, then all biases.

    For two layers, `[w0, u0, b0, c0, w1, u1, b1, c1]` becomes `[w0, u0, w1, u1, b0, c0, b1, c1]`.

    Args:
        weights: the weights in PyTorch's order: for each layer and direction two matrices, biases, the projection.
        biases: the number of biases for each layer and direction: 0 or 2.
        projects: True if each layer and direction has the matrix of a projection (`proj_size`).
    """
    each = 2 + biases + projects
    parts = [weights[start : start + each] for start in range(0, len(weights), each)]
    matrices = [one for part in parts for one in (*part[:2], *part[2 + biases :])]
    return [*matrices, *(one for part in parts for one in part[2 : 2 + biases])]


def _join_into_one_storage(weights: Sequence[torch.Tensor], biases: int, projects: bool) -> None:
    if _are_joined(weights, biases, projects):
        return
    with torch.no_grad():
        first = weights[0]
        whole = torch.empty(sum(one.numel() for one in weights), dtype=first.dtype, device=first.device)
        start = 0
        for weight in _in_cudnn_order(weights, biases, projects):
            part = whole[start : start + weight.numel()].view(weight.shape)
            part.copy_(weight)
            weight.data = part
            start += weight.numel()


def _are_joined(weights: Sequence[torch.Tensor], biases: int, projects: bool) -> bool:
    """Return whether the weights lie one after another in a storage, in cuDNN's order.

    `try_get_weight_buf` of aten/native/cudnn/RNN.cpp decides so. For `biases` and `projects`, see `_in_cudnn_order`.
    """
    address = weights[0].untyped_storage().data_ptr()
    for weight in _in_cudnn_order(weights, biases, projects):
        if weight.data_ptr() != address or not weight.is_contiguous():
            return False
        address += weight.numel() * weight.element_size()
    return True


def _wrap_with_warning(original: Any) -> Any:
    """Return a wrapper of a function such as `torch._VF.lstm` that warns of separate weights.

    Weights are separate if they are not joined in one storage.
    """

    @functools.wraps(original)
    def call(*args: Any) -> Any:
        # A packed sequence comes with the sizes of its batches, so that all else stands one place later.
        place = 3 if isinstance(args[3], bool) else 4
        weights, bias = args[place - 1], args[place]
        if _is_acceptable(args[0]) and all(map(_is_acceptable, weights)):
            layers = args[place + 1] * (2 if args[place + 4] else 1)
            biases = 2 if bias else 0
            if not _are_joined(weights, biases, len(weights) // layers > 2 + biases):
                warnings.warn(_APART, UserWarning, stacklevel=2)
        return original(*args)

    return call
