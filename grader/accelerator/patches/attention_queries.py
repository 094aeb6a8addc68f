"""`torch.backends.cuda.can_use_flash_attention` and its like know the kernels of the GPU."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Let programs find out which attention kernels the simulated GPU would run.

    For example, `torch.backends.cuda.can_use_flash_attention(params)` returns False for tensors with a mask. With
    `debug=True`, it also warns why.
    """

    def wrap_query(kernel: str, original: Any) -> Any:
        def can_use(params: Any, debug: bool = False) -> bool:
            if not isinstance(params.query, SimTensor):
                return bool(original(params, debug))
            kernels: Any = importlib.import_module("grader.accelerator.ops.attention_kernels")
            arguments = kernels.AttentionArguments(
                *(params.query, params.key, params.value, params.attn_mask, params.dropout, params.is_causal),
                *(params.enable_gqa, machine.spec.capability),
            )
            return bool(kernels.can_use(kernel, arguments, warn=debug))

        return can_use

    for kernel in ("flash", "efficient", "cudnn"):
        name = f"can_use_{kernel}_attention"
        put(torch.backends.cuda, name, wrap_query(kernel, getattr(torch.backends.cuda, name)))
    put(torch.backends.cuda, "is_flash_attention_available", lambda: True)
