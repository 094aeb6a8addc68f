"""`torch.cuda.graph` and `make_graphed_callables` record on the simulated device; pools of memory exist."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from grader.accelerator.cuda.graphs import CUDAGraph, is_current_stream_capturing
from grader.accelerator.cuda.pools import MemPool, graph_pool_handle, use_mem_pool
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Let programs capture and replay CUDA graphs, and allocate from pools of memory.

    `CUDAGraph`, `MemPool` and their functions are replaced by simulated ones, which `torch.cuda.graph` and
    `make_graphed_callables` use.
    """
    del machine
    graph: Any = CUDAGraph
    if hasattr(torch.cuda.graphs, "register_graph_replay_start_hook"):
        # Not before: it imports what only newer versions have.
        graph = importlib.import_module("grader.accelerator.cuda.graph_hooks").CUDAGraphWithHooks
    for owner in (torch.cuda, torch.cuda.graphs):
        for answer in (graph, graph_pool_handle, is_current_stream_capturing):
            put(owner, answer.__name__, answer)
    for owner in (torch.cuda, torch.cuda.memory):
        put(owner, "MemPool", MemPool)
        put(owner, "use_mem_pool", use_mem_pool)
    put(torch._C, "_host_emptyCache", lambda: None)
