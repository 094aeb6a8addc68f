"""NCCL, simulated: `backend="nccl"` of torch.distributed, over gloo, with the time of the links on the virtual clock.

Each process has its own virtual clock. At each collective they tell each other when they come to it, and it begins when
the last one does. A ring is assumed, at the rate `Spec.peer`.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, cast

import torch
import torch.distributed as dist

from grader.accelerator.core.tensor import LEGACY, SimTensor
from grader.accelerator.refusals import refusal, refusing_function
from grader.accelerator.sim.clock import OF_COLLECTIVES
from grader.accelerator.sim.machine import Machine, the_machine
from grader.accelerator.sim.races import VectorClock

VERSION = (2, 27, 5)
"""What a build of PyTorch without NCCL says; one with it has its own."""

_NOT_SET = -(1 << 31)

_REFUSED = "torch.distributed.ProcessGroupNCCL.{} is not supported on the simulated device"

_POINT_TO_POINT = ("send", "recv_", "recv_any_source_")

_TWICE = ("allreduce_", "allreduce_coalesced_")
"""A ring goes round twice: parts are added, and the sums are handed on."""

_FLAT = ("_allgather_base_", "_reduce_scatter_base_")
"""NCCL looks at how many numbers there are, and gloo at the first dimension."""

_PLAIN = (torch.contiguous_format,)
_FORMATS = {4: (*_PLAIN, torch.channels_last), 5: (*_PLAIN, torch.channels_last_3d)}
"""In which order the numbers of a tensor may be, by its number of dimensions."""

_NOT_CONTIGUOUS = (
    "Detected non-contiguous tensor in P2P operations. It is user responsibility to guarantee that source and "
    "destination tensors have the same contiguity format."
)

_DUPLICATE = (
    "NCCL error in: ProcessGroupNCCL.cpp, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version "
    "{version}\nncclInvalidUsage: This usually reflects invalid usage of NCCL library.\nLast error:\nDuplicate GPU "
    "detected : rank {rank} and rank {other} both on CUDA device {device}"
)


_EIGHTS = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz)

_DTYPES = {
    *(torch.int8, torch.uint8, torch.int32, torch.int64, torch.bool, *_EIGHTS),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
}
"""The dtypes that NCCL has; complex numbers go as two real ones."""

_OTHER_NUMBER = "Tensor input and output of _broadcast_oop must have the same number of elements "
"""What NCCL says in `all_gather` of several sizes, which it does by a broadcast of each part."""


class NCCLConfig:
    """The configuration of communicators, which changes nothing here; its numbers are NCCL's mark for "not set"."""

    def __init__(self) -> None:
        self.blocking = self.cga_cluster_size = self.min_ctas = self.max_ctas = self.split_share = _NOT_SET
        self.traffic_class = self.collnet_enable = self.cta_policy = self.nvls_ctas = self.max_p2p_peers = _NOT_SET
        self.net_name: str | None = None
        self.comm_name: str | None = None


class _Options:
    """The options of NCCL, as in `ProcessGroupNCCL.Options`."""

    def __init__(self, is_high_priority_stream: bool = False) -> None:
        self.is_high_priority_stream = is_high_priority_stream
        self.config = NCCLConfig()
        self.backend = "nccl"
        self.group_name = ""
        self.global_ranks_in_group: list[int] = []
        self.split_from: Any = None
        self.split_color = 0
        self._timeout = timedelta(minutes=10)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Options:
        # The backend that it splits from, if any, cannot be copied.
        new = copy.copy(self)
        new.config, new.global_ranks_in_group = copy.copy(self.config), [*self.global_ranks_in_group]
        memo[id(self)] = new
        return new


class SimNccl(dist.ProcessGroupGloo):
    """The simulated NCCL backend of a process group: it takes tensors of the device, and lets gloo do the work."""

    Options = _Options  # type: ignore[assignment]
    NCCLConfig = NCCLConfig
    NCCL_CTA_POLICY_DEFAULT, NCCL_CTA_POLICY_EFFICIENCY, NCCL_CTA_POLICY_ZERO = 0, 1, 2
    made: ClassVar[list[SimNccl]] = []
    """All of them: C++ holds the group, and forgets of which class it is when Python has dropped it."""

    def __init__(self, store: Any, rank: int, size: int, options: _Options) -> None:
        super().__init__(store, rank, size, timeout=options._timeout)
        # The operators of collectives look for a backend by the tensors' device, and those inside are on the CPU.
        self.inside = dist.ProcessGroup(store, rank, size)
        self.inside._set_default_backend(dist.ProcessGroup.BackendType.GLOO)
        self.inside._register_backend(torch.device("cpu"), dist.ProcessGroup.BackendType.GLOO, self)
        self._options = options
        self._splits = 0
        self.made.append(self)

    @property
    def options(self) -> _Options:  # type: ignore[override]
        """The options that the group was made with."""
        return self._options

    @property
    def uid(self) -> int:
        """The number of this backend among the NCCL backends of this process, from 0."""
        return self.made.index(self)

    @property
    def supports_splitting(self) -> bool:
        """True: `dist.split_group` can split this process group."""
        return True

    def name(self) -> str:
        """Return the name of the backend, "nccl"."""
        return "nccl"

    def _get_backend_name(self) -> str:
        return "nccl"

    def comm_split_count(self) -> int:
        """Return the number of groups that were split from this one."""
        return self._splits

    def perform_nocolor_split(self, device: torch.device) -> None:
        """Count a split of this group in which this process belongs to no part."""
        del device
        self._splits += 1

    def eager_connect_single_device(self, device: torch.device | None = None) -> None:
        """Do nothing: the processes of the group are connected already."""

    def _is_initialized(self) -> bool:
        return True

    def _group_start(self) -> None:
        """Do nothing: collectives between `ncclGroupStart` and `ncclGroupEnd` run immediately, one by one."""

    def _group_end(self) -> None:
        """Do nothing: collectives since `ncclGroupStart` have run already."""

    def _add_ephemeral_timeout(self, timeout: timedelta) -> None:
        """Do nothing: each collective keeps the timeout of its process group."""

    @staticmethod
    def get_build_nccl_version() -> tuple[int, ...]:
        """Return the version of NCCL, such as `(2, 27, 5)`, as `torch.cuda.nccl.version` does."""
        return tuple(torch.cuda.nccl.version())

    get_runtime_nccl_version = get_build_nccl_version

    def split_from(self, store: Any, rank: int, size: int, options: Any) -> SimNccl:
        """Return the backend of a new process group that is split from this backend's group.

        The split is counted in `comm_split_count`.

        Args:
            store: the store in which the processes of the new group find each other.
            rank: the rank of this process in the new group.
            size: the number of processes in the new group.
            options: the options of the new backend.
        """
        self._splits += 1
        return SimNccl(store, rank, size, options)


for _name in (
    *("_comm_ptr", "_end_time_estimate", "_set_enable_nan_check", "_start_time_estimate", "allocate_tensor"),
    *("deregister_mem_pool", "register_mem_pool"),
):
    setattr(SimNccl, _name, refusing_function(_REFUSED.format(_name)))
SimNccl.mem_allocator = property(refusing_function(_REFUSED.format("mem_allocator")))  # type: ignore[assignment, method-assign]
SimNccl.__name__ = SimNccl.__qualname__ = "ProcessGroupNCCL"
SimNccl.__module__ = "torch._C._distributed_c10d"


def nccl_of(machine: Machine, group: Any) -> SimNccl | None:
    """Return the simulated NCCL backend of a process group; None if the group has no such backend."""
    try:
        backend = group._get_backend(torch.device(machine.kind))
    except RuntimeError:
        return None  # a group of another backend, that has none for this device
    return backend if isinstance(backend, SimNccl) else None


def split_group(
    parent: Any,
    nccl: SimNccl,
    ranks: Sequence[int],
    options: Any,
    name: str,
    description: str | None,
    devices: Any = None,
) -> Any:
    """Return a new process group of some ranks of `parent`; None if this process is not one of them.

    Args:
        parent: the process group that is split.
        nccl: the NCCL backend of `parent`.
        ranks: the ranks in `parent` that form the new group.
        options: the options of the new NCCL backend; their timeout holds for a gloo backend, too.
        name: the name of the new group.
        description: the description of the new group, for people.
        devices: the types of devices for which the new group gets backends; None means those of `parent`.
    """
    kind, core = cast(Any, (dist.ProcessGroup, dist))
    # Not by the name: PyTorch makes it of the number of groups, which is another in a process that is in fewer.
    store = core.PrefixStore(f"split {nccl.comm_split_count()} of {ranks}/", parent.get_group_store())
    if parent.rank() not in ranks:
        nccl.perform_nocolor_split(parent._device_types[0])
        return None
    rank, size = list(ranks).index(parent.rank()), len(ranks)
    part = kind(store, rank, size)
    for device in devices or parent._device_types:
        backend = parent._get_backend(device)
        own = core.PrefixStore(f"{device.type}/", store)
        if isinstance(backend, SimNccl):
            part._set_default_backend(kind.BackendType.NCCL)
            part._register_backend(device, kind.BackendType.NCCL, backend.split_from(own, rank, size, options))
        else:
            gloo = dist.ProcessGroupGloo(own, rank, size, timeout=options._timeout)
            part._register_backend(device, kind.BackendType.GLOO, gloo)
    part._set_group_name(name)
    if description is not None:
        part._set_group_desc(description)
    return part


def run_collective(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator of `torch.distributed` on tensors of the device, as NCCL does.

    Gloo does the work on their inner tensors. The virtual clock advances by the time that NCCL would take.

    Args:
        func: the operator.
        args: the positional arguments of the operator.
        kwargs: the keyword arguments of the operator.

    Returns:
        What the operator returns; NotImplemented if the process group has no NCCL backend.
    """
    machine = the_machine()
    names = [argument.name for argument in func._schema.arguments]
    place = names.index("process_group")
    nccl = nccl_of(machine, dist.ProcessGroup.unbox(args[place]))
    if nccl is None:
        return NotImplemented
    tensors: list[SimTensor] = []
    inner = [_unwrap_tensors(arg, tensors) for arg in args]
    inner[place] = nccl.inside.boxed()
    name, index = func._overloadpacket.__name__, tensors[0]._place.index
    _check_tensors(name, args)
    if name in _WHOLES:
        _check_sizes(name, args[0], args[1], nccl.size())
    if "reduce" not in name:
        inner = [_as_bytes(arg) for arg in inner]
    if name in _FLAT:
        inner = [arg.view(-1) if isinstance(arg, torch.Tensor) and arg.is_contiguous() else arg for arg in inner]
    nbytes = sum(tensor._inner.numel() * tensor._inner.element_size() for tensor in tensors)
    _advance_clock(machine, nccl, name, index, nbytes, tensors)
    if _run_if_gloo_refuses(name, nccl, inner):
        returns_tensors = True
    else:
        out = func(*inner, **kwargs)
        if name in _POINT_TO_POINT:
            return out
        returns_tensors = isinstance(out, (tuple, list))
        dist.Work.unbox(out[-1] if returns_tensors else out).wait()
    # The numbers are there at once. Who asks the work for its results is given tensors of the device.
    done: Any = torch.futures.Future()
    done.set_result(tensors)
    core: Any = torch._C._distributed_c10d
    work = core._create_work_from_future(done).boxed()
    return (args[0], work) if returns_tensors else work


def run_functional(func: Any, composite: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator of `torch.distributed._functional_collectives` on tensors of the device.

    It becomes a collective that runs by `run_collective`. In that one the reduction is in a box of C++'s that Python
    cannot open, so it is looked at here: what NCCL lacks raises, and AVG of integers, which gloo lacks, is their sum,
    divided.

    Args:
        func: the operator.
        composite: the dispatch key of the operator's formula.
        args: the positional arguments of the operator.
        kwargs: the keyword arguments of the operator.
    """
    given = dict(zip((argument.name for argument in func._schema.arguments), args, strict=False))
    word = given.get("reduce_op")
    name = given.get("group_name")
    core: Any = torch._C._distributed_c10d
    # A newer PyTorch passes the group itself.
    group: Any = core._resolve_process_group(name) if isinstance(name, str) else name
    if word is None or nccl_of(the_machine(), group) is None:
        return func.redispatch(composite, *args, **kwargs)
    operation = getattr(dist.ReduceOp, word.upper(), None)
    if operation is not None:  # PyTorch refuses other words
        check_reduction(operation)
    if not averages_integers(operation, _all_tensors(args[0])):
        return func.redispatch(composite, *args, **kwargs)
    made = func.redispatch(composite, *("sum" if argument is word else argument for argument in args), **kwargs)
    for tensor in _all_tensors(made):
        cast(Any, tensor)._inner.div_(group.size(), rounding_mode="trunc")
    return made


def _run_if_gloo_refuses(name: str, nccl: SimNccl, inner: list[Any]) -> bool:
    """Run a collective by means of other collectives if gloo refuses it.

    Return True if the collective was run, False if gloo does not refuse it. Gloo refuses `alltoall_`,
    `gather_into_tensor_`, and `allgather_` of tensors of several shapes.

    Args:
        name: the name of the operator.
        nccl: the backend of the process group.
        inner: the arguments of the operator, outputs and inputs first. Inner tensors stand in place of wrappers.
    """
    outputs, inputs = inner[0], inner[1]
    if name == "alltoall_":
        whole = torch.cat([tensor.reshape(-1) for tensor in inputs])
        arrived = torch.empty(sum(tensor.numel() for tensor in outputs), dtype=whole.dtype)
        gets, gives = ([tensor.numel() for tensor in tensors] for tensors in (outputs, inputs))
        nccl.inside.alltoall_base(arrived, whole, gets, gives).wait()
        for tensor, part in zip(outputs, arrived.split(gets), strict=True):
            tensor.copy_(part.view(tensor.shape))
        return True
    if name == "gather_into_tensor_":
        root = inner[3]
        parts = [torch.empty_like(inputs) for _ in range(nccl.size())] if nccl.rank() == root else []
        nccl.inside.gather([parts] if parts else [], [inputs], _gather_options(root)).wait()
        if parts:
            outputs.copy_(torch.stack(parts).view(outputs.shape))
        return True
    # All processes have the same list of sizes, and come to the same decision.
    if name != "allgather_" or len({tensor.shape for tensor in outputs[0]}) < 2:
        return False
    if outputs[0][nccl.rank()].numel() != inputs[0].numel():
        raise ValueError(_OTHER_NUMBER)
    outputs[0][nccl.rank()].view(-1).copy_(inputs[0].view(-1))
    for rank, tensor in enumerate(outputs[0]):
        nccl.inside.broadcast(tensor, rank).wait()
    return True


def _gather_options(root: int) -> Any:
    options: Any = torch._C._distributed_c10d.GatherOptions()
    options.rootRank = root
    return options


def _check_tensors(name: str, args: Any) -> None:
    """Raise unless all tensors are on the device, dense and contiguous, and have dtypes that NCCL has.

    Sends and receives only warn of a tensor that is not contiguous. The errors are those of `check_gpu_single_tensor`
    and `getNcclDataType` in ProcessGroupNCCL.cpp.
    """
    for tensor in _all_tensors(args):
        if not isinstance(tensor, SimTensor):
            raise ValueError("Tensors must be CUDA and dense")
        if tensor.dtype not in _DTYPES and not tensor.dtype.is_complex:
            word = LEGACY.get(tensor.dtype, str(tensor.dtype).removeprefix("torch."))
            raise TypeError(f"Input tensor data type is not supported for NCCL process group: {word}")
        if tensor.dtype in _EIGHTS and "reduce" in name:
            raise refusal(f"NCCL's reduction of {tensor.dtype} is not supported on the simulated device: use float32.")
    given = [item for arg in args for item in (arg if isinstance(arg, (list, tuple)) else [arg])]
    for tensor in given:
        if not isinstance(tensor, SimTensor):
            continue  # lists of outputs may have parts that are not contiguous
        if tensor._inner.layout is not torch.strided:
            raise ValueError("Tensors must be CUDA and dense")
        if not any(tensor._inner.is_contiguous(memory_format=one) for one in _FORMATS.get(tensor.dim(), _PLAIN)):
            if name not in _POINT_TO_POINT:
                raise ValueError("Tensors must be contiguous")
            warnings.warn(_NOT_CONTIGUOUS, UserWarning, stacklevel=2)


_WHOLES = {
    "_allgather_base_": (
        "output tensor must have the same type as input tensor",
        "output tensor size must be equal to world_size times input tensor size",
    ),
    "_reduce_scatter_base_": (
        "input tensor must be the same type as the output tensor.",
        "input tensor must be the same size as output size times world size",
    ),
}
"""Collectives of one tensor that holds those of all processes, and what NCCL says of other types and sizes."""


def _check_sizes(name: str, output_tensor: Any, input_tensor: Any, size: int) -> None:
    """Raise unless the dtypes and the numbers of elements of two tensors fit together.

    In a group of 2 processes, `_allgather_base_` of 3 elements needs an output of 6, and `_reduce_scatter_base_` of 6
    an output of 3. The dtypes must be equal. The errors are those of ProcessGroupNCCL.cpp.

    Args:
        name: the name of the operator, a key of `_WHOLES`.
        output_tensor: the tensor that the operator writes to.
        input_tensor: the tensor that the operator reads.
        size: the number of processes in the group.
    """
    other_type, other_size = _WHOLES[name]
    if output_tensor.dtype != input_tensor.dtype:
        raise TypeError(other_type)
    whole, part = (output_tensor, input_tensor) if name == "_allgather_base_" else (input_tensor, output_tensor)
    if whole.numel() != part.numel() * size:
        raise ValueError(other_size)


def check_reduction(operation: Any) -> None:
    """Raise `ValueError` for a reduction that NCCL lacks: BAND, BOR or BXOR.

    See `getNcclReduceOp` of ProcessGroupNCCL.cpp.
    """
    for name in ("BAND", "BOR", "BXOR"):
        if operation == getattr(dist.ReduceOp, name):
            raise ValueError(f"Cannot use ReduceOp.{name} with NCCL")


def premul_factor_of(operation: Any) -> Any:
    """Return the factor by which the reduction PREMUL_SUM multiplies before it adds.

    It is 2.0 for `dist._make_nccl_premul_sum(2.0)`, and None for other reductions.
    """
    sums: Any = operation == dist.ReduceOp.PREMUL_SUM
    return operation.__getstate__()[1] if sums and hasattr(operation, "__getstate__") else None


def finished_work() -> Any:
    """Return a `dist.Work` that is completed, for a call whose collectives have run already."""
    done: Any = torch.futures.Future()
    done.set_result([])
    core: Any = torch._C._distributed_c10d
    return core._create_work_from_future(done)


def _all_tensors(value: Any) -> list[torch.Tensor]:
    """Return the tensors of an argument, or of lists in it."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [one for item in value for one in _all_tensors(item)] if isinstance(value, (list, tuple)) else []


def _as_bytes(value: Any) -> Any:
    """Return tensors in fp8, which gloo does not know, as tensors of bytes on the same memory; others as they are."""
    if isinstance(value, torch.Tensor):
        return value.view(torch.uint8) if value.dtype in _EIGHTS else value
    return [_as_bytes(item) for item in value] if isinstance(value, (list, tuple)) else value


def averages_integers(operation: Any, tensors: Sequence[torch.Tensor]) -> bool:
    """Return whether a reduction is AVG of integers: NCCL divides the sum, rounding to 0, and gloo lacks it.

    Raises:
        TypeError: it is AVG of tensors of bool, as `getNcclReduceOp` of ProcessGroupNCCL.cpp says.
    """
    if operation != dist.ReduceOp.AVG or not tensors:
        return False
    if any(tensor.dtype is torch.bool for tensor in tensors):
        raise TypeError("Cannot use ReduceOp.AVG with boolean inputs")
    return not any(tensor.is_floating_point() or tensor.is_complex() for tensor in tensors)


def _unwrap_tensors(value: Any, tensors: list[SimTensor]) -> Any:
    if isinstance(value, SimTensor):
        tensors.append(value)
        return value._inner
    return [_unwrap_tensors(item, tensors) for item in value] if isinstance(value, (list, tuple)) else value


def _advance_clock(
    machine: Machine, nccl: SimNccl, name: str, index: int, nbytes: int, tensors: list[SimTensor]
) -> None:
    """Add a collective to the virtual clock.

    A collective begins when all processes of the group have called it; a send or a receive begins without them.

    Args:
        machine: the machine that is simulated.
        nccl: the backend of the process group.
        name: the name of the operator.
        index: the index of the device of the tensors.
        nbytes: the bytes of all tensors.
        tensors: the tensors that the collective reads and writes to.

    Raises:
        DistBackendError: another process of the group uses the same device.
    """
    spec, clock, size = machine.spec, machine.clock, nccl.size()
    machine.check_fault(index)
    queue, current = (index, OF_COLLECTIVES), machine.devices[index].queue
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
    clock.add_work(name.rstrip("_"), [queue], spec.launch, seconds, "links", seconds - spec.latency, (nbytes, ()))
    for tensor in tensors:
        tensor._block.arrives = clock.ready[queue]
    machine.has_collectives = True


def _check_devices(nccl: SimNccl, devices: list[int], index: int) -> None:
    others = [rank for rank, device in enumerate(devices) if device == index and rank != nccl.rank()]
    if others:
        version = ".".join(map(str, torch.cuda.nccl.version()))
        raise dist.DistBackendError(_DUPLICATE.format(version=version, rank=nccl.rank(), other=others[0], device=index))


@dataclass(frozen=True)
class RunningCollective:
    """A collective that the program has not waited for yet.

    Attributes:
        index: the index of its device.
        done: the work of all queues that is known to be done once the collective is.
    """

    index: int
    done: VectorClock


def begin_collective(
    machine: Machine, name: str, reads: Sequence[SimTensor], writes: Sequence[SimTensor]
) -> RunningCollective:
    """Record that a collective begins to use tensors on NCCL's stream.

    The race detector reports a use of these tensors before the program waits for the collective. Return what
    `end_collective` needs.

    Args:
        machine: the machine that is simulated.
        name: the name of the collective, for messages.
        reads: the tensors that the collective reads.
        writes: the tensors that the collective writes to.
    """
    index = (*writes, *reads)[0]._place.index
    queue, races = (index, OF_COLLECTIVES), machine.races
    races.several = True
    races.record_wait(queue, races.vector_clock_of(machine.devices[index].queue))
    races.record_use(queue, name, [tensor._block for tensor in reads], [tensor._block for tensor in writes])
    for tensor in (*reads, *writes):
        # It keeps the memory of what the program drops meanwhile.
        tensor._block.shared |= {queue}
    return RunningCollective(index, races.vector_clock_of(queue))


def end_collective(machine: Machine, running: RunningCollective) -> None:
    """Record that the current stream waits for a collective.

    Afterwards, a use of the collective's tensors on this stream is not a race.

    Args:
        machine: the machine that is simulated.
        running: the collective, as `begin_collective` returned it.
    """
    machine.races.record_wait(machine.devices[running.index].queue, running.done)
