"""`torch.distributed` finds NCCL, and takes tensors of the device."""

from __future__ import annotations

import importlib
import inspect
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Let `torch.distributed` find NCCL, in a build of PyTorch that has it at all."""
    if not dist.is_available():
        return
    c10d: Any = importlib.import_module("torch.distributed.distributed_c10d")
    nccl: Any = importlib.import_module("grader.accelerator.cuda.nccl")
    put(c10d, "_NCCL_AVAILABLE", True)
    put(c10d, "default_pg_nccl_timeout", timedelta(minutes=10))
    for owner in (c10d, dist):
        put(owner, "ProcessGroupNCCL", nccl.SimNccl)
    put(torch.cuda.nccl, "version", lambda: nccl.VERSION)
    original: Any = dist.barrier

    def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None, timeout: Any = None) -> Any:
        whole = group or c10d._get_default_group()
        if nccl.nccl_of(machine, whole) is None:
            return original(group, async_op, device_ids, timeout)
        # As NCCL does it; C++ would make the tensor on a device that it does not have.
        index = device_ids[0] if device_ids else (getattr(whole, "bound_device_id", None) or machine.kind)
        place = machine.devices[machine.index_of(index)].public
        work = dist.all_reduce(torch.zeros(1, device=place), group=group, async_op=async_op)
        if not async_op:
            machine.synchronize(place)
        return work

    _check_operations(machine, c10d, nccl)
    original_destroy: Any = dist.destroy_process_group

    def destroy_process_group(group: Any = None) -> None:
        whole = c10d._get_default_group() if group is None else group
        gone = nccl.nccl_of(machine, whole) if isinstance(whole, dist.ProcessGroup) else None
        everything = whole is c10d.GroupMember.WORLD
        original_destroy(group)
        # With the last name of a group its threads end. One that is left would still drop tensors while Python ends.
        nccl.SimNccl.made[:] = [one for one in nccl.SimNccl.made if not (everything or one is gone)]

    for owner in (c10d, dist):
        put(owner, "barrier", barrier)
        put(owner, "destroy_process_group", destroy_process_group)
    core: Any = torch._C._distributed_c10d
    original_stats = core.Logger.set_runtime_stats_and_log

    def set_runtime_stats_and_log(logger: Any) -> None:
        # C++ has a timer for tensors of CUDA and none for ours, and would warn of that.
        if logger._get_ddp_logging_data().strs_map["backend_name"] != "nccl":
            original_stats(logger)

    core.Logger.set_runtime_stats_and_log = set_runtime_stats_and_log


def _check_operations(machine: Machine, c10d: Any, nccl: Any) -> None:
    # The operators get the operation in a box of C++'s that Python cannot open.
    def checked(original: Any) -> Any:
        signature = inspect.signature(original)

        def reduce(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind(*args, **kwargs).arguments
            group = given.get("group") or c10d._get_default_group()
            # A process that is not in the group has a number in its place.
            if isinstance(group, dist.ProcessGroup) and nccl.nccl_of(machine, group) is not None:
                nccl.check_operation(given.get("op"))
            return original(*args, **kwargs)

        return reduce

    for name in ("all_reduce", "reduce", "reduce_scatter", "reduce_scatter_tensor"):
        for owner in (c10d, dist):
            put(owner, name, checked(getattr(owner, name)))
