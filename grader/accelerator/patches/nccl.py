"""`torch.distributed` finds NCCL, and takes tensors of the device."""

from __future__ import annotations

import copy
import importlib
import inspect
import weakref
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.refusals import refusal
from grader.accelerator.replacing import put
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Let programs use `backend="nccl"` of `torch.distributed` on simulated devices.

    Do nothing if PyTorch was built without `torch.distributed`.
    """
    if not dist.is_available():
        return
    c10d: Any = importlib.import_module("torch.distributed.distributed_c10d")
    nccl: Any = importlib.import_module("grader.accelerator.cuda.nccl")
    if not c10d._NCCL_AVAILABLE:
        put(torch.cuda.nccl, "version", lambda: nccl.VERSION)
    put(c10d, "_NCCL_AVAILABLE", True)
    put(c10d, "default_pg_nccl_timeout", timedelta(minutes=10))
    for owner in (c10d, dist):
        put(owner, "ProcessGroupNCCL", nccl.SimNccl)
    original: Any = dist.barrier

    signature = inspect.signature(original)

    def barrier(*args: Any, **kwargs: Any) -> Any:
        """Run a barrier as NCCL does, by reducing a tensor on the device.

        Wait for it unless `async_op` is True.
        """
        given = signature.bind(*args, **kwargs).arguments
        group, async_op, device_ids = (given.get(name) for name in ("group", "async_op", "device_ids"))
        whole = group or c10d._get_default_group()
        # A process that is not in the group has a number in its place.
        if not isinstance(whole, dist.ProcessGroup) or nccl.nccl_of(machine, whole) is None:
            return original(*args, **kwargs)
        # As NCCL does it; C++ would make the tensor on a device that it does not have.
        index = device_ids[0] if device_ids else (getattr(whole, "bound_device_id", None) or machine.kind)
        place = machine.devices[machine.index_of(index)].public
        work = dist.all_reduce(torch.zeros(1, device=place), group=group, async_op=bool(async_op))
        if not async_op:
            machine.synchronize(place)
        return work

    _replace_collectives(machine, c10d)
    _patch_coalescing(machine)
    _patch_split_group(machine)
    _refuse_group_hooks(machine)
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
        told = logger._get_ddp_logging_data().strs_map
        if told["backend_name"] != "nccl" and not told["device_ids"]:
            original_stats(logger)

    core.Logger.set_runtime_stats_and_log = set_runtime_stats_and_log


_Running = weakref.WeakKeyDictionary[Any, Any]
"""Collectives that go on, by the work that the program got of them."""

_coalesced: dict[Any, list[Any]] = {}
"""By group: the sends and receives that began within a coalescing manager, which waits for all of them."""


def _replace_collectives(machine: Machine, c10d: Any) -> None:
    """Replace the collectives, and the methods by which a program waits for them.

    The new ones raise for reductions that NCCL lacks, and record that NCCL uses the tensors until a wait.
    """
    running: _Running = weakref.WeakKeyDictionary()
    for name in _WRITES:
        if hasattr(c10d, name):  # an older PyTorch has fewer
            new = _wrap_collective(machine, running, name, getattr(c10d, name))
            for owner in (c10d, dist):
                if hasattr(owner, name):
                    put(owner, name, new)
    ended: weakref.WeakSet[Any] = weakref.WeakSet()
    # Whoever is given the future waits by it. What is known to be completed needs no wait.
    for name in ("wait", "synchronize", "block_current_stream", "get_future", "is_completed"):
        if hasattr(dist.Work, name):
            put(dist.Work, name, _wrap_wait(machine, running, ended, getattr(dist.Work, name)))


def _wrap_collective(machine: Machine, running: _Running, name: str, original: Any) -> Any:
    """Return a wrapper of a collective that records its use of tensors.

    The use goes on until the program waits. The wrapper also raises for a reduction that NCCL lacks.

    Args:
        machine: the machine that is simulated.
        running: a dict of the collectives that the program must wait for, by their `dist.Work`; the wrapper adds to it.
        name: the name of the collective.
        original: the collective.
    """
    c10d: Any = importlib.import_module("torch.distributed.distributed_c10d")
    nccl: Any = importlib.import_module("grader.accelerator.cuda.nccl")
    signature = inspect.signature(original)

    def collective(*args: Any, **kwargs: Any) -> Any:
        """Run the collective; if it goes on after the call, record its use of tensors."""
        bound = signature.bind(*args, **kwargs)
        given = bound.arguments
        group = given.get("group") or c10d._get_default_group()
        # A process that is not in the group has a number in its place.
        if not isinstance(group, dist.ProcessGroup) or nccl.nccl_of(machine, group) is None:
            return original(*args, **kwargs)
        # The operators get the operation in a box of C++'s that Python cannot open.
        nccl.check_reduction(given.get("op"))
        if (factor := nccl.premul_factor_of(given.get("op"))) is not None:
            _premultiply_inputs(name, given, factor)
        reads, writes = _accessed_tensors(name, given)
        if averages := nccl.averages_integers(given.get("op"), [*reads, *writes]):
            given["op"] = dist.ReduceOp.SUM
        work = original(*bound.args, **bound.kwargs)
        # Gloo is done by now, also where NCCL would go on. `reduce` changes the tensor of one process alone.
        if averages and (name != "reduce" or _is_destination(given, group)):
            for tensor in writes:
                tensor._inner.div_(group.size(), rounding_mode="trunc")
        if name in _POINT_TO_POINT and group in _coalesced:
            _coalesced[group].append(work)
        # Of a coalesced one the program gets something else, by which it cannot wait.
        goes_on = type(work) is dist.Work and (given.get("async_op") or name in _POINT_TO_POINT)
        if goes_on and (reads or writes):
            running[work] = nccl.begin_collective(machine, name, reads, writes)
        return work

    return collective


def _is_destination(given: dict[str, Any], group: Any) -> bool:
    """Return whether this process gets the result of `reduce`.

    Args:
        given: the arguments of `reduce`, by name.
        group: the process group.
    """
    if given.get("group_dst") is not None:
        return bool(given["group_dst"] == group.rank())
    return bool(given.get("dst") == dist.get_rank())


def _premultiply_inputs(name: str, arguments: dict[str, Any], factor: Any) -> None:
    """Multiply the inputs of a collective by the factor of PREMUL_SUM.

    Gloo lacks this reduction, so the collective gets the reduction SUM.

    Args:
        name: the name of the collective.
        arguments: the arguments of the collective by name, which are changed in place.
        factor: the factor of PREMUL_SUM.
    """
    arguments["op"] = dist.ReduceOp.SUM
    if name in ("all_reduce", "reduce"):
        arguments["tensor"].mul_(factor)  # NCCL does not keep it either
    elif "input_list" in arguments:
        arguments["input_list"] = [one * factor for one in arguments["input_list"]]
    elif "input" in arguments:
        arguments["input"] = arguments["input"] * factor


def _patch_coalescing(machine: Machine) -> None:
    """Allow the program to coalesce collectives of an NCCL group.

    Each collective starts when it is called. At the end of the coalescing manager, sends and receives are waited for.
    """
    nccl: Any = importlib.import_module("grader.accelerator.cuda.nccl")
    kind: Any = dist.ProcessGroup
    start, end = kind._start_coalescing, kind._end_coalescing

    def start_coalescing(self: Any, device: Any) -> None:
        if nccl.nccl_of(machine, self) is None:
            start(self, device)
        else:
            _coalesced[self] = []

    def end_coalescing(self: Any, device: Any) -> Any:
        if nccl.nccl_of(machine, self) is None:
            return end(self, device)
        for work in _coalesced.pop(self, ()):
            work.wait()
        return nccl.finished_work()

    put(kind, "_start_coalescing", start_coalescing)
    put(kind, "_end_coalescing", end_coalescing)


def _patch_split_group(machine: Machine) -> None:
    """Make `dist.split_group` return an NCCL group for a part of an NCCL group.

    C++ would make a gloo group.
    """
    nccl: Any = importlib.import_module("grader.accelerator.cuda.nccl")
    kind: Any = dist.ProcessGroup
    if not hasattr(kind, "split_group"):
        return
    original = kind.split_group

    def split_group(
        self: Any,
        new_ranks: Any,
        timeout: Any = None,
        opts: Any = None,
        group_name: Any = None,
        group_desc: Any = None,
        **others: Any,
    ) -> Any:
        backend = nccl.nccl_of(machine, self)
        if backend is None:
            return original(self, new_ranks, timeout, opts, group_name, group_desc, **others)
        options = copy.deepcopy(opts or backend.options)
        options._timeout = timeout or options._timeout
        name = group_name or f"{self.group_name}:split:{new_ranks}:{backend.comm_split_count()}"
        return nccl.split_group(self, backend, new_ranks, options, name, group_desc, others.get("device_types"))

    put(kind, "split_group", split_group)


def _refuse_group_hooks(machine: Machine) -> None:
    """Refuse the hooks of PyTorch 2.14 that a program registers with an NCCL group.

    C++ calls them where it runs a collective, to which those of the simulated NCCL do not come.
    """
    nccl: Any = importlib.import_module("grader.accelerator.cuda.nccl")
    kind: Any = dist.ProcessGroup
    for name in ("register_pre_hook", "register_post_hook"):
        if hasattr(kind, name):  # an older PyTorch has none
            put(kind, name, _refusing_hook(machine, nccl, name, getattr(kind, name)))


def _refusing_hook(machine: Machine, nccl: Any, name: str, original: Any) -> Any:
    def register(self: Any, *args: Any, **kwargs: Any) -> Any:
        if nccl.nccl_of(machine, self) is not None:
            raise refusal(f"{name} of an NCCL process group is not supported on the simulated device: use gloo.")
        return original(self, *args, **kwargs)

    return register


def _wrap_wait(machine: Machine, running: _Running, ended: weakref.WeakSet[Any], original: Any) -> Any:
    """Return a wrapper of a method by which a program waits for a `dist.Work`.

    The wrapper records that the current stream waits for the collective.

    Args:
        machine: the machine that is simulated.
        running: the collectives that the program has not waited for, by their `dist.Work`.
        ended: the `dist.Work` objects whose `wait` has returned.
        original: the method.
    """
    nccl: Any = importlib.import_module("grader.accelerator.cuda.nccl")

    def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self in ended and original.__name__ == "wait":
            return True  # gloo, which does the work, would wait for another message
        done = original(self, *args, **kwargs)
        if self in running:
            nccl.end_collective(machine, running[self])
            if original.__name__ == "wait":
                ended.add(self)
        return done

    return wait


_WRITES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("all_reduce", "broadcast", "reduce", "scatter", "irecv"), ("tensor",)),
    **dict.fromkeys(("all_gather_into_tensor", "all_gather_single", "_all_gather_base"), ("output_tensor",)),
    **dict.fromkeys(("reduce_scatter", "reduce_scatter_tensor", "reduce_scatter_single"), ("output",)),
    "_reduce_scatter_base": ("output",),
    "all_reduce_coalesced": ("tensors",),
    "all_gather": ("tensor_list",),
    "gather": ("gather_list",),
    **dict.fromkeys(("gather_single", "gather_into_tensor"), ("gather_tensor",)),
    "all_to_all": ("output_tensor_list",),
    "all_to_all_single": ("output",),
    "isend": (),
}
"""Collectives, and which of their arguments they write to."""

_POINT_TO_POINT = ("isend", "irecv")


def _accessed_tensors(name: str, given: dict[str, Any]) -> tuple[list[SimTensor], list[SimTensor]]:
    """Return the tensors that a collective reads, and those that it writes to.

    For `all_gather` with the arguments `{"tensor_list": [a, b], "tensor": x}`, they are `[x]` and `[a, b]`.

    Args:
        name: the name of the collective.
        given: the arguments of the collective, by name.
    """
    reads: list[SimTensor] = []
    writes: list[SimTensor] = []
    for argument, value in given.items():
        items = value if isinstance(value, (list, tuple)) else [value]
        # Who broadcasts reads its own.
        sends = name == "broadcast" and given.get("src") == dist.get_rank()
        into = writes if argument in _WRITES[name] and not sends else reads
        into += [item for item in items if isinstance(item, SimTensor)]
    return reads, writes
