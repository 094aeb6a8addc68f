"""Attention with masks and scores in Python runs as PyTorch's formula for it."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Make `flex_attention` on tensors of the device run PyTorch's formula in Python.

    Autograd works through this formula.
    """
    del machine
    module: Any = importlib.import_module("torch._higher_order_ops.flex_attention")
    original = module.flex_attention

    def flex(query: Any, *args: Any, **kwargs: Any) -> Any:
        return (module.math_attention if isinstance(query, SimTensor) else original)(query, *args, **kwargs)

    # The second module takes it from the first when it is loaded, which may have been before.
    module.flex_attention = flex
    if (loaded := sys.modules.get("torch.nn.attention.flex_attention")) is not None:
        vars(loaded)["flex_attention_hop"] = flex
