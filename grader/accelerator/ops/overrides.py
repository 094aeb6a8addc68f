"""Operators with an implementation here: copies between devices, and changes of a tensor's storage or sizes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from grader.accelerator.core.pinned_memory import is_pinned, mark_pinned
from grader.accelerator.core.sparse import nbytes_of, parts_of
from grader.accelerator.core.storage import ELSEWHERE
from grader.accelerator.core.tensor import LEGACY, SimTensor, refresh_metadata, wrap
from grader.accelerator.core.unsupported import refuse_unsupported_layout, unsupported_error
from grader.accelerator.ops.attention import attend
from grader.accelerator.schema.facts import OperatorFacts
from grader.accelerator.sim.capture import Capture
from grader.accelerator.sim.counters import DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE
from grader.accelerator.sim.machine import the_machine

_copy = torch._C.TensorBase.copy_


def copy_between(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run `copy_` from any device to any other.

    Args:
        func: the operator.
        args: the target and the source, perhaps `non_blocking`.
        kwargs: the keyword arguments of the operator.
    """
    if not isinstance(args[1], torch.Tensor):
        return args[0].fill_(args[1])
    to: Any = args[0]
    source: Any = args[1]
    non_blocking = bool(args[2] if len(args) > 2 else kwargs.get("non_blocking", False))
    machine = the_machine()
    ours, theirs = isinstance(to, SimTensor), isinstance(source, SimTensor)
    target = to._inner if ours else to
    origin = source._inner if theirs else source
    if origin.layout is not torch.strided:
        raise unsupported_error(func, f"the source is {origin.layout}")
    # First the numbers: what C++ finds wrong with them is raised before anything is counted.
    capture = None if machine.capture is None else machine.capture_on((to if ours else source)._place.index)
    if capture is not None:
        capture.save_before_write([target])
    _copy(target, origin)
    if capture is not None:
        capture.record_operator(functools.partial(func, target, origin), None, [])
    nbytes = target.numel() * target.element_size()
    _record_accesses("copy_", source, to)
    if ours and theirs and to._place is source._place:
        # Within one device it is a kernel that reads and writes every byte.
        machine.launch("copy_", to._place, 0, 2 * nbytes)
    elif ours and theirs:
        machine.transfer(DEVICE_TO_DEVICE, to._place.index, nbytes, source=source._place.index, host_waits=False)
    elif ours:
        pinned = is_pinned(origin) and _is_one_memcpy(origin, target)
        if pinned and non_blocking:
            _record_copy(machine.races.record_copy_from, capture, origin)
        machine.transfer(HOST_TO_DEVICE, to._place.index, nbytes, pinned=pinned, host_waits=not non_blocking)
    else:
        # To the host PyTorch waits for pageable memory, with non_blocking too.
        pinned = is_pinned(target) and _is_one_memcpy(target, origin)
        if pinned and non_blocking:
            _record_copy(machine.races.record_copy_to, capture, target)
        machine.transfer(
            DEVICE_TO_HOST, source._place.index, nbytes, pinned=pinned, host_waits=not (non_blocking and pinned)
        )
    return to


def _record_copy(record: Callable[[torch.Tensor], None], capture: Capture | None, pinned: torch.Tensor) -> None:
    """Record an asynchronous copy from or to pinned memory; in a capture, for each replay.

    Args:
        record: the method of the race detector that records it: `record_copy_from` or `record_copy_to`.
        capture: the capture that the copy is part of, if any.
        pinned: the pinned tensor.
    """
    if capture is None:
        record(pinned)
    else:
        capture.copies.append((record, pinned))


def _is_one_memcpy(host: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether one `cudaMemcpyAsync` is enough for a copy between host and device.

    Otherwise the copy uses a contiguous copy of the host's memory in pageable memory. PyTorch decides this in
    `copy_requires_temporaries` of aten/src/ATen/native/cuda/Copy.cu.

    Args:
        host: the tensor on the host.
        other: the inner tensor of the tensor on the device.
    """
    if host.is_contiguous():
        return True
    dense: bool = torch.ops.aten.is_non_overlapping_and_dense(host)
    return dense and host.dtype == other.dtype and host.stride() == other.stride()


def _record_accesses(name: str, source: Any, to: Any) -> None:
    """Record that a copy reads the memory of `source` and writes to that of `to`.

    Accesses of a CPU tensor are not recorded.

    Args:
        name: the name of the operator.
        source: the tensor that is read, on a device or the CPU.
        to: the tensor that is written to, on a device or the CPU.
    """
    machine = the_machine()
    reads = [source._block] if isinstance(source, SimTensor) else []
    writes = [to._block] if isinstance(to, SimTensor) else []
    if reads and writes and source._place is not to._place:
        # A copy between devices is the source's work, for which the target waits.
        machine.record_use(source._place, name, reads, [])
        machine.races.record_mutual_wait(source._place.queue, to._place.queue)
        machine.record_use(to._place, name, [], writes)
    elif reads or writes:
        machine.record_use((source if reads else to)._place, name, reads, writes)


def _to_copy(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run `_to_copy`, which `.to`, `.cpu` and conversions of dtype call."""
    source = args[0]
    machine = the_machine()
    device = kwargs.get("device")
    options = {name: value for name, value in kwargs.items() if name not in ("device", "non_blocking", "pin_memory")}
    inner = source._inner if isinstance(source, SimTensor) else source
    leaves = device is not None and not machine.is_simulated(device)
    if leaves and torch.device(str(device)).type != "cpu":
        # To `meta` and the like: no bytes of the device go anywhere.
        return func(inner, **options, device=device)
    made = func._op(inner, **options)
    refuse_unsupported_layout(func, made)
    capture = None
    if machine.capture is not None:
        here = source.device if leaves or device is None else machine.to_inner_device(device)
        if capture := machine.capture_on(here.index):
            capture.record_operator(functools.partial(func, inner, **options), made, [made])
    nbytes = nbytes_of(made)
    non_blocking = bool(kwargs.get("non_blocking"))
    if leaves:
        _record_accesses("_to_copy", source, made)
        host_waits = not non_blocking
        # PyTorch makes the target of such a copy in pinned memory, too.
        for part, origin in zip(parts_of(made), parts_of(inner), strict=True) if non_blocking else ():
            mark_pinned(part)
            if _is_one_memcpy(part, origin):
                _record_copy(machine.races.record_copy_to, capture, part)
            else:
                host_waits = True
        machine.transfer(DEVICE_TO_HOST, source._place.index, nbytes, pinned=not host_waits, host_waits=host_waits)
        return made
    place = source._place if device is None else machine.devices[machine.index_of(device)]
    result = wrap(made, place)
    _record_accesses("_to_copy", source, result)
    if not isinstance(source, SimTensor):
        pinned = is_pinned(inner) and _is_one_memcpy(inner, made)
        if pinned and non_blocking:
            _record_copy(machine.races.record_copy_from, machine.capture_on(place.index), inner)
        machine.transfer(HOST_TO_DEVICE, place.index, nbytes, pinned=pinned, host_waits=not non_blocking)
    elif place is source._place:
        machine.launch("_to_copy", place, 0, nbytes + nbytes_of(inner))
    else:
        machine.transfer(DEVICE_TO_DEVICE, place.index, nbytes, source=source._place.index, host_waits=False)
    return result


def _layout(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Return the layout of the inner tensor.

    C++ calls this for sparse tensors with compressed rows or columns.
    """
    del func, kwargs
    return args[0]._inner.layout


def _set(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run `set_`, by which a tensor gets another storage, sizes or strides."""
    shell = args[0]
    if not isinstance(shell, SimTensor):
        raise unsupported_error(func, "a CPU tensor cannot take the memory of the device")
    # C++ would find nothing wrong: it is given what is inside, and that is all on the CPU.
    for given in args:
        if isinstance(given, (torch.Tensor, torch.UntypedStorage)) and given.device != shell.device:
            raise RuntimeError(ELSEWHERE.format(shell.device, the_machine().public_device(given.device)))
    func(*[arg._inner if isinstance(arg, SimTensor) else arg for arg in args], **kwargs)
    refresh_metadata(shell)
    return shell


def _resize(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run `resize_` and `resize_as_`, which change sizes, and perhaps allocate memory."""
    func(*[arg._inner if isinstance(arg, SimTensor) else arg for arg in args], **kwargs)
    if isinstance(args[0], SimTensor):
        refresh_metadata(args[0])
        # The storage may be longer now, and the device has to have room for it.
        args[0]._block.resize()
    return args[0]


def _pack_padded_sequence(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run `pack_padded_sequence`, whose lengths and batch sizes are on the host."""
    source, lengths = args[0], args[1]
    if not isinstance(source, SimTensor):
        raise unsupported_error(func, "the lengths are on the device, and the sequences are not")
    if isinstance(lengths, SimTensor):
        # The lengths decide how the work is divided, so CUDA, too, takes them from the host and no other place.
        kind = LEGACY.get(lengths.dtype, str(lengths.dtype))
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got "
            f"{lengths.dim()}D {lengths.device} {kind} tensor"
        )
    packed, sizes = func(source._inner, *args[1:], **kwargs)
    made = wrap(packed, source._place)
    if capture := the_machine().capture_on(source._place.index):
        capture.record_operator(functools.partial(func, source._inner, *args[1:], **kwargs), (packed, sizes), [packed])
    _record_accesses("_pack_padded_sequence", source, made)
    the_machine().launch("_pack_padded_sequence", source._place, 0, 2 * packed.numel() * packed.element_size())
    return made, sizes


def _zero_tensor(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run `_efficientzerotensor`, and return an ordinary tensor of zeros.

    PyTorch returns a tensor without memory.
    """
    del func
    return torch.zeros(*args, **kwargs)


def _new_empty_strided(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run `new_empty_strided` for a layout that has no strides, and return a dense tensor.

    Backward calls it for the gradient of a sparse tensor with compressed rows or columns. C++ treats the wrapper as a
    dense tensor, and so requests a gradient with the layout of the wrapper. Other calls return `NotImplemented`, and
    run as usual.
    """
    if kwargs.get("layout") in (None, torch.strided):
        return NotImplemented
    return func(*args, **{**kwargs, "layout": torch.strided})


def _matrix_rank_out(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run `linalg.matrix_rank` with `out`, and copy the result to `out`.

    PyTorch does not write to an `out` that is a wrapper. A call without `out` returns `NotImplemented`.
    """
    out = kwargs.get("out")
    if out is None:
        return NotImplemented
    made = func._overloadpacket(*args, **{name: value for name, value in kwargs.items() if name != "out"})
    return out.resize_(made.shape).copy_(made)


def one_hot(x: torch.Tensor, num_classes: int = -1) -> torch.Tensor:
    """Run `one_hot` as on CUDA, by a scatter.

    The scatter's kernel fails on a class number that is out of range. On other devices PyTorch compares with all
    classes, and returns zeros for such a number.
    """
    if x.dtype is not torch.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if num_classes == -1:
        num_classes = int(x.max()) + 1
    made = torch.zeros((*x.shape, num_classes), dtype=torch.int64, device=x.device)
    return made.scatter_(-1, x.unsqueeze(-1), 1)


def _zeros_for_tangent(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Return zeros into which forward AD copies a tangent.

    They are on the tangent's device, and have the layout of the primal. For a tangent on the simulated device, return
    `NotImplemented`.
    """
    tangent, primal = args
    if isinstance(tangent, SimTensor):
        return NotImplemented
    return func(tangent, primal._inner, **kwargs)


def _svd(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run `_linalg_svd` with a `driver`, which chooses among CUDA's algorithms.

    The CPU has one algorithm. A call without a `driver` returns `NotImplemented`.
    """
    driver = kwargs.get("driver")
    if driver is None:
        return NotImplemented
    if driver not in _SVD_DRIVERS:
        raise RuntimeError(f"torch.linalg.svd: unknown svd driver {driver} in svd_cusolver computation. {_SVD_DOC}")
    return func(*args, **{**kwargs, "driver": None})


_SVD_DRIVERS = ("gesvd", "gesvdj", "gesvda")
_SVD_DOC = "Check doc at https://pytorch.org/docs/stable/generated/torch.linalg.svd.html"

OVERRIDES: dict[str, Callable[..., Any]] = {
    "_linalg_svd": _svd,
    "_new_zeros_with_same_feature_meta": _zeros_for_tangent,
    "copy_": copy_between,
    "_to_copy": _to_copy,
    "layout": _layout,
    "set_": _set,
    "resize_": _resize,
    "resize_as_": _resize,
    "_efficientzerotensor": _zero_tensor,
    "_pack_padded_sequence": _pack_padded_sequence,
    "linalg_matrix_rank": _matrix_rank_out,
    "new_empty_strided": _new_empty_strided,
    "scaled_dot_product_attention": attend,
}
"""The functions that run operators in another way, by the operators' names, or by their paths for one overload."""


def override_of(facts: OperatorFacts) -> Callable[..., Any] | None:
    """Return the function of `OVERRIDES` that runs an operator; None if it has none."""
    return OVERRIDES.get(facts.name) or OVERRIDES.get(facts.path)
