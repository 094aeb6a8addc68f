"""Errors of C++ name the device as Python code does."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch._C import TensorBase

from grader.accelerator.core.error_texts import use_public_name_in_errors
from grader.accelerator.replacing import TensorAttribute, put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Make errors of C++ name the device as the program does: `cuda:0`, not `sim:0`.

    This concerns the setter of `Tensor.grad`, recurrent layers, convolutions, and functions of several operators.
    """
    del machine
    grad: Any = TensorBase.grad
    put(torch.Tensor, "grad", TensorAttribute(grad.__get__, use_public_name_in_errors(grad.__set__), grad.__delete__))
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        put(torch._VF, name, use_public_name_in_errors(getattr(torch._VF, name)))
    for name in ("stft", "tensordot"):
        put(torch._VF, name, use_public_name_in_errors(getattr(torch._VF, name)))
    for name in ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"):
        # Of complex numbers: C++ makes several convolutions of one, and compares the types before.
        original = getattr(torch, name)
        put(torch, name, use_public_name_in_errors(original))
        convolution = getattr(torch, name)
        # PyTorch's own class of this kind knows the functions that were there when its module was imported.
        known: Any = sys.modules.get("torch.nn.utils._expanded_weights.expanded_weights_impl")
        if known is not None and original in known.HANDLED_FUNCTIONS:
            known.HANDLED_FUNCTIONS[convolution] = known.HANDLED_FUNCTIONS[original]
        put(torch.nn.functional, name, convolution)
    several = ((torch, "istft"), (torch, "gradient"), (torch, "tensor_split"))
    for owner, name in (*several, (torch.linalg, "multi_dot"), (torch.linalg, "norm")):
        put(owner, name, use_public_name_in_errors(getattr(owner, name)))
    put(torch.Tensor, "tensor_split", use_public_name_in_errors(torch.Tensor.tensor_split))
