"""`torch.cuda.graph` and `make_graphed_callables` record on the simulated device."""

from __future__ import annotations

import torch

from grader.accelerator.cuda.graphs import CUDAGraph, graph_pool_handle, is_current_stream_capturing
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Replace `CUDAGraph` and its functions, which `torch.cuda.graph` and `make_graphed_callables` use."""
    del machine
    for owner in (torch.cuda, torch.cuda.graphs):
        for answer in (CUDAGraph, graph_pool_handle, is_current_stream_capturing):
            put(owner, answer.__name__, answer)
    put(torch._C, "_host_emptyCache", lambda: None)
