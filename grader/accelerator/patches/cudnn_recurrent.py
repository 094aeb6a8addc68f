"""What cuDNN refuses of recurrent layers: states that are not contiguous, other devices, and some backward passes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, cast

import torch

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine

_NOT_TRAINING = "cudnn RNN backward can only be called in training mode"

_DOUBLE = (
    "the derivative for '_cudnn_rnn_backward' is not implemented. Double backwards is not supported for CuDNN RNNs due "
    "to limitations in the CuDNN API. To run double backwards, please disable the CuDNN backend temporarily while "
    "running the forward pass of your RNN. For example: \nwith torch.backends.cudnn.flags(enabled=False):\n"
    "    output = model(inputs)"
)


def install(machine: Machine) -> None:
    """Make layers such as `nn.LSTM` raise the errors that cuDNN raises on a GPU.

    For example, a hidden state that is not contiguous raises "rnn: hx is not contiguous".
    """
    del machine
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        put(torch._VF, name, _wrap_with_cudnn_errors(getattr(torch._VF, name)))


class _NoDerivative(torch.autograd.Function):
    """A function that returns a gradient unchanged, but whose own backward raises.

    A backward through a gradient (double backward) therefore raises, as with cuDNN.
    """

    @staticmethod
    def forward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        """Return the gradient unchanged, as a new tensor that has `backward` as its derivative."""
        del ctx
        return grad.view_as(grad)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Raise `NotImplementedError`: cuDNN has no double backward."""
        del ctx, grads
        raise NotImplementedError(_DOUBLE)


def _wrap_with_cudnn_errors(original: Any) -> Any:
    """Return a wrapper of a function such as `torch._VF.lstm` that raises where cuDNN does.

    Some of these errors are raised in forward, the others in backward.
    """

    @functools.wraps(original)
    def call(*args: Any) -> Any:
        """Run a recurrent layer, and raise where cuDNN does.

        If cuDNN would raise in backward, backward of the result raises.
        """
        # A packed sequence comes with the sizes of its batches, so that all else stands one place later.
        packed = not isinstance(args[3], bool)
        x, states, weights, training = args[0], args[1 + packed], args[2 + packed], args[6 + packed]
        if not torch.backends.cudnn.is_acceptable(x):
            return original(*args)
        hidden = states if isinstance(states, (list, tuple)) else (states,)
        if packed:  # of others PyTorch's own code asks
            _check_recurrent_devices(x, weights, hidden)
        for state, word in zip(hidden, ("hx", "cx"), strict=False):
            if not state.is_contiguous():
                raise RuntimeError(f"rnn: {word} is not contiguous")
        if not torch.is_grad_enabled() or not any(one.requires_grad for one in (x, *hidden, *weights)):
            return original(*args)
        if training:
            given = list(args)
            given[0], given[2 + packed] = _without_second_derivative(x), [*map(_without_second_derivative, weights)]
            aliases = tuple(map(_without_second_derivative, hidden))
            given[1 + packed] = aliases if isinstance(states, (list, tuple)) else aliases[0]
            return original(*given)
        made = original(*args)
        for one in made:
            if one.requires_grad:
                one.register_hook(_refuse_backward)
        return made

    return call


def _refuse_backward(grad: torch.Tensor) -> None:
    del grad
    raise RuntimeError(_NOT_TRAINING)


def _without_second_derivative(tensor: torch.Tensor) -> torch.Tensor:
    """Return an alias of a tensor; the alias does not support a double backward.

    A backward through the alias's gradient raises `NotImplementedError`. A tensor that requires no gradient is returned
    itself.
    """
    if not tensor.requires_grad:
        return tensor
    alias, no_derivative = tensor.view_as(tensor), cast(Any, _NoDerivative)
    alias.register_hook(lambda grad: no_derivative.apply(grad) if grad.requires_grad else None)
    return alias


def _check_recurrent_devices(x: torch.Tensor, weights: Sequence[torch.Tensor], hidden: Sequence[torch.Tensor]) -> None:
    """Raise cuDNN's error unless weights and hidden states are on the input's device.

    See `check_attributes` of RNN.h.
    """
    for word, tensors in (("parameter", weights), ("hidden", hidden)):
        for one in tensors:
            if isinstance(x, SimTensor) and one.device != x.device:
                raise RuntimeError(
                    f"Input and {word} tensors are not at the same device, found input tensor at {x.device} and {word} "
                    f"tensor at {one.device}"
                )
