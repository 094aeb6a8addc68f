"""`torch.cuda.comm`, and with it `nn.DataParallel`, copies between devices; one device works after another."""

from __future__ import annotations

import importlib
import threading
import types
from typing import Any

import torch

from grader.accelerator.cuda.communication import (
    broadcast,
    broadcast_coalesced,
    broadcast_out,
    gather,
    gather_out,
    scatter,
    scatter_out,
)
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Let `nn.DataParallel` and `torch.cuda.comm` copy between simulated devices.

    The C++ functions behind them are replaced. The replicas of `nn.DataParallel` run one after another.
    """
    del machine
    for function in (broadcast, broadcast_out, broadcast_coalesced, scatter, scatter_out, gather, gather_out):
        put(torch._C, f"_{function.__name__}", function)
    # Sums over devices ask for it, and would warn that it was not compiled in.
    put(torch.cuda.nccl, "is_available", _no_nccl)
    # Programs name `torch.cuda.comm` without an import of it.
    importlib.import_module("torch.cuda.comm")
    _replace_threads()


def _no_nccl(tensors: Any) -> bool:
    del tensors
    return False


class _ThreadThatWaits(threading.Thread):
    def start(self) -> None:
        """Start the thread, and wait until it ends.

        The simulated machine has no locks against concurrent threads.
        """
        super().start()
        self.join()


def _replace_threads() -> None:
    module = importlib.import_module("torch.nn.parallel.parallel_apply")
    put(module, "threading", types.SimpleNamespace(Thread=_ThreadThatWaits, Lock=threading.Lock))
