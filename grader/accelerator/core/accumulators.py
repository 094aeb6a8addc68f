"""The nodes of autograd that accumulate into leaves and exist already: they were made on the streams of that time."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils import _python_dispatch

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.sim.backward_streams import record_streams_of_accumulator
from grader.accelerator.sim.machine import the_machine


def record_accumulator_streams(tensors: Iterable[Any] | None = None) -> None:
    """Record the current streams as those on which leaves accumulate their gradients.

    Backward then runs the AccumulateGrad node of each leaf on them. For example, when the program makes its first
    stream, the nodes that exist already belong to the default streams. Streams that are recorded already stay. Each
    record is deleted together with its node, which lives as long as a graph uses it.

    Args:
        tensors: the tensors among which the leaves are; by default all tensors that exist. The default is right only
            while the program has used no second stream.
    """
    found = gc.get_objects() if tensors is None else tensors
    leaves = [one for one in found if issubclass(type(one), SimTensor) and _is_leaf_with_gradient(one)]
    if not leaves:
        return
    streams = the_machine().here.streams
    disabled = _python_dispatch._disable_current_modes()
    with torch.inference_mode(False), torch.enable_grad(), torch._C.DisableTorchFunction(), disabled:
        for leaf in leaves:
            # A tensor knows its node, and only a graph shows it to Python.
            view: Any = torch.Tensor.view_as(leaf, leaf)
            record_streams_of_accumulator(view.grad_fn.next_functions[0][0], streams)


def _is_leaf_with_gradient(tensor: torch.Tensor) -> bool:
    """Return whether a tensor is a leaf that requires a gradient.

    The `is_leaf` of a view that may not be changed in place raises if its base was changed; such a view is not a leaf.
    """
    try:
        return tensor.is_leaf and tensor.requires_grad
    except RuntimeError:
        return False
