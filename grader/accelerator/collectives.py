"""NCCL, simulated: `backend="nccl"` of torch.distributed, over gloo, with the time of the links on the virtual clock.

Each process has its own virtual clock. At each collective they tell each other when they come to it, and it begins when
the last one does. A ring is assumed, at the rate `Spec.peer`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from grader.accelerator.machine import Machine, the_machine
from grader.accelerator.replacing import put
from grader.accelerator.tensor import SimTensor

_VERSION = (2, 27, 5)
_POINT_TO_POINT = ("send", "recv_", "recv_any_source_")
_TWICE = ("allreduce_", "allreduce_coalesced_")
"""A ring goes round twice: parts are added, and the sums are handed on."""

_FLAT = ("_allgather_base_", "_reduce_scatter_base_")
"""NCCL looks at how many numbers there are, and gloo at the first dimension."""

_QUEUE = -1
"""The number of the stream on which NCCL works."""

_DUPLICATE = (
    "NCCL error in: ProcessGroupNCCL.cpp, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version "
    "{version}\nncclInvalidUsage: This usually reflects invalid usage of NCCL library.\nLast error:\nDuplicate GPU "
    "detected : rank {rank} and rank {other} both on CUDA device {device}"
)


class _Options:
    """What `ProcessGroupNCCL.Options` holds."""

    def __init__(self, is_high_priority_stream: bool = False) -> None:
        self.is_high_priority_stream = is_high_priority_stream
        self.config: Any = None
        self._timeout = timedelta(minutes=10)


class SimNccl(dist.ProcessGroupGloo):
    """A group of processes that takes tensors of the device."""

    Options = _Options  # type: ignore[assignment]
    made: ClassVar[list[SimNccl]] = []
    """All of them: C++ holds the group, and forgets of which class it is when Python has dropped it."""

    def __init__(self, store: Any, rank: int, size: int, options: _Options) -> None:
        super().__init__(store, rank, size, timeout=options._timeout)
        # The operators of collectives look for a backend by the tensors' device, and those inside are on the CPU.
        self.inside = dist.ProcessGroup(store, rank, size)
        self.inside._set_default_backend(dist.ProcessGroup.BackendType.GLOO)
        self.inside._register_backend(torch.device("cpu"), dist.ProcessGroup.BackendType.GLOO, self)
        self.made.append(self)


SimNccl.__name__ = SimNccl.__qualname__ = "ProcessGroupNCCL"


def answer_nccl(machine: Machine) -> None:
    """Let `torch.distributed` find NCCL."""
    put(c10d, "_NCCL_AVAILABLE", True)
    put(c10d, "default_pg_nccl_timeout", timedelta(minutes=10))
    for owner in (c10d, dist):
        put(owner, "ProcessGroupNCCL", SimNccl)
    put(torch.cuda.nccl, "version", lambda: _VERSION)
    original: Any = dist.barrier

    def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None, timeout: Any = None) -> Any:
        whole = group or c10d._get_default_group()
        if _nccl_of(machine, whole) is None:
            return original(group, async_op, device_ids, timeout)
        # As NCCL does it; C++ would make the tensor on a device that it does not have.
        index = device_ids[0] if device_ids else (getattr(whole, "bound_device_id", None) or machine.kind)
        place = machine.devices[machine.index_of(index)].public
        work = dist.all_reduce(torch.zeros(1, device=place), group=group, async_op=async_op)
        if not async_op:
            machine.synchronize(place)
        return work

    original_destroy: Any = dist.destroy_process_group

    def destroy_process_group(group: Any = None) -> None:
        whole = c10d._get_default_group() if group is None else group
        gone = _nccl_of(machine, whole) if isinstance(whole, dist.ProcessGroup) else None
        everything = whole is c10d.GroupMember.WORLD
        original_destroy(group)
        # With the last name of a group its threads end. One that is left would still drop tensors while Python ends.
        SimNccl.made[:] = [one for one in SimNccl.made if not (everything or one is gone)]

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


def _nccl_of(machine: Machine, group: Any) -> SimNccl | None:
    try:
        backend = group._get_backend(torch.device(machine.kind))
    except RuntimeError:
        return None  # a group of another backend, that has none for this device
    return backend if isinstance(backend, SimNccl) else None


def collective(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator of `torch.distributed` that was given tensors of the device; NotImplemented with gloo."""
    machine = the_machine()
    names = [argument.name for argument in func._schema.arguments]
    place = names.index("process_group")
    nccl = _nccl_of(machine, dist.ProcessGroup.unbox(args[place]))
    if nccl is None:
        return NotImplemented
    shells: list[SimTensor] = []
    inner = [_strip(arg, shells) for arg in args]
    inner[place] = nccl.inside.boxed()
    name, index = func._overloadpacket.__name__, shells[0]._place.index
    if name in _FLAT:
        inner = [arg.view(-1) if isinstance(arg, torch.Tensor) and arg.is_contiguous() else arg for arg in inner]
    nbytes = sum(shell._inner.numel() * shell._inner.element_size() for shell in shells)
    _spend(machine, nccl, name, index, nbytes, shells)
    out = func(*inner, **kwargs)
    if name in _POINT_TO_POINT:
        return out
    # The numbers are there at once. Who asks the work for its results is given tensors of the device.
    dist.Work.unbox(out[-1] if isinstance(out, (tuple, list)) else out).wait()
    done: Any = torch.futures.Future()
    done.set_result(shells)
    core: Any = torch._C._distributed_c10d
    work = core._create_work_from_future(done).boxed()
    return (args[0], work) if isinstance(out, (tuple, list)) else work


def _strip(value: Any, shells: list[SimTensor]) -> Any:
    if isinstance(value, SimTensor):
        shells.append(value)
        return value._inner
    return [_strip(item, shells) for item in value] if isinstance(value, (list, tuple)) else value


def _spend(machine: Machine, nccl: SimNccl, name: str, index: int, nbytes: int, shells: list[SimTensor]) -> None:
    """The time of the links: from when the last process comes to it."""
    spec, clock, size = machine.spec, machine.clock, nccl.size()
    machine.check(index)
    queue, current = (index, _QUEUE), machine.devices[index].queue
    machine.tally.collectives += 1
    # NCCL's stream waits for the one that made the numbers.
    clock.ready[queue] = max(clock.ready.get(queue, 0.0), clock.ready.get(current, 0.0))
    if name not in _POINT_TO_POINT and size > 1:
        mine = torch.tensor([clock.ready[queue], clock.host, float(index)], dtype=torch.float64)
        rows = [torch.empty_like(mine) for _ in range(size)]
        nccl.inside.allgather([rows], [mine]).wait()
        _check_devices(nccl, [int(one[2]) for one in rows], index)
        clock.ready[queue] = max(max(float(one[0]), float(one[1])) for one in rows)
    rounds = (2 if name in _TWICE else 1) * (size - 1) / size if name not in _POINT_TO_POINT else 1
    seconds = spec.latency + rounds * nbytes / spec.peer
    clock.work(name.rstrip("_"), [queue], spec.launch, seconds, "links", seconds - spec.latency, (nbytes, ()))
    for shell in shells:
        shell._block.arrives = clock.ready[queue]
    machine.awaits = True


def _check_devices(nccl: SimNccl, devices: list[int], index: int) -> None:
    others = [rank for rank, device in enumerate(devices) if device == index and rank != nccl.rank()]
    if others:
        version = ".".join(map(str, _VERSION))
        raise dist.DistBackendError(_DUPLICATE.format(version=version, rank=nccl.rank(), other=others[0], device=index))
