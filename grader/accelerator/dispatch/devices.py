"""One device for all operands, or PyTorch's own error."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.dispatch.record import Dispatch
from grader.accelerator.sim.counters import HOST_TO_DEVICE
from grader.accelerator.sim.machine import Device, Machine

_STRUCTURED = {
    *("mm", "addmm", "bmm", "baddbmm", "addmv", "cat", "gather", "index_add", "index_copy", "nll_loss_forward"),
    *("nll_loss_backward", "scatter", "scatter_add", "scatter_reduce", "_addmm_activation", "triangular_solve"),
}
"""Operators whose kernel is called wrapper_CUDA_<name> in errors; with others the overload comes first."""

_FOR_THE_HOST = {
    "_pack_padded_sequence_backward": {"batch_sizes"},
    "index_fill": {"value"},
    "index_fill_": {"value"},
    "_fused_adam_": {"lr"},
    "_fused_adamw_": {"lr"},
    "_fused_sgd_": {"lr"},
    "_fused_adagrad_": {"lr"},
}
"""Arguments that are read on the host, by operator: on CUDA they may be on the CPU."""

_WRAPPED = {"clamp", "clamp_", "clamp_min", "clamp_max", "isin", "equal"}
"""Operators that take no number from the host, though they go element by element."""

_ANYWHERE = {"is_same_size", "_has_same_storage_numel"}
"""Operators that look at no numbers."""

_ADDCMUL = ("addcmul", "addcmul_")

_NO_NUMBERS = {
    "self": "CPU Scalar support for self argument is not supported when calling addcmul on CUDA tensors.",
    "tensor1": "CPU Scalar support for tensor1 argument is not supported when calling addcmul on CUDA tensors. "
    "However, CPU Scalar support for tensor2 is supported, please swap your tensor1 and tensor2 terms.",
}
"""Arguments of `addcmul` that its kernel does not take from the host, and what it says."""

_MADE_OF = {"embedding": ("index_select", {"indices": "index"})}
"""Operators in whose errors another one is named, with other names of its arguments."""


def check_devices(call: Dispatch) -> None:
    """Raise PyTorch's own error unless all operands are on one device; a 0-dim CPU tensor is allowed."""
    facts, args, shells, hosts = call.facts, call.args, call.shells, call.hosts
    if not shells:
        return
    first = shells[0]._place
    same = _share_a_place(shells)
    if same and not hosts:
        return
    if facts.name in _ANYWHERE:
        return
    if facts.indexing and not same and isinstance(args[0], SimTensor):
        _check_indices(args)
    # Indices may be on the CPU, as on CUDA, where PyTorch moves them first.
    if facts.indexing and same:
        _move_indices(call.machine, args, first)
        hosts = [host for host in hosts if not any(host is index for index in args[1])]
        if all(host.dim() == 0 for host in hosts) and isinstance(args[0], SimTensor):
            return
    named = call.named_arguments()
    if read := _FOR_THE_HOST.get(facts.name):
        hosts = [host for host in hosts if not any(name in read and host is value for name, value in named)]
        if same and not hosts:
            return
    # A kernel can be given a 0-dim CPU tensor as a number to read, but cannot write to it.
    tensors = _NO_NUMBERS if facts.name in _ADDCMUL else facts.writes
    written = [value for name, value in named if name in tensors]
    scalars = [host for host in hosts if host.dim() == 0 and not any(host is value for value in written)]
    # `where` takes both its values as numbers; any other pointwise operator takes one, for each tensor of a list.
    most = len(hosts) if facts.name.startswith("_foreach_") else 2 if facts.name == "where" else 1
    if facts.pointwise and facts.name not in _WRAPPED and same and len(scalars) == len(hosts) <= most:
        return
    raise RuntimeError(_different_devices_text(call, first, hosts))


def run_one_by_one(call: Dispatch) -> Any:
    """Run an operator on lists whose tensors are on several devices, as CUDA does: one after another.

    Returns:
        What the operator returns; NotImplemented if all tensors are on one device, or if the lists have one tensor
        each, which are on two.
    """
    if _share_a_place(call.shells) and not any(host.dim() for host in call.hosts):
        return NotImplemented
    lists = [arg for arg in call.args if isinstance(arg, (list, tuple))]
    count = len(lists[0])
    if any(len(one) != count for one in lists):
        return NotImplemented
    if count == 1:
        if call.facts.name != "_foreach_copy_":
            return NotImplemented
        lists[0][0].copy_(lists[1][0], *call.args[2:], **call.kwargs)
        return None
    outs: list[Any] = []
    for i in range(count):
        done = call.func(*([arg[i]] if isinstance(arg, (list, tuple)) else arg for arg in call.args), **call.kwargs)
        outs += done or ()
    return outs or None


def _share_a_place(shells: list[SimTensor]) -> bool:
    first = shells[0]._place
    for shell in shells:  # noqa: SIM110  `all` takes longer, and each operator comes here
        if shell._place is not first:
            return False
    return True


def _check_indices(args: Any) -> None:
    """Raise for an index on another device than the tensor."""
    if any(isinstance(index, SimTensor) and index._place is not args[0]._place for index in args[1]):
        raise RuntimeError(
            f"indices should be either on cpu or on the same device as the indexed tensor ({args[0].device})"
        )


def _move_indices(machine: Machine, args: Any, place: Device) -> None:
    if not isinstance(args[0], SimTensor):
        raise RuntimeError(
            f"indices should be either on cpu or on the same device as the indexed tensor ({args[0].device})"
            if isinstance(args[0], torch.Tensor)
            else "indices should be on the device of the indexed tensor"
        )
    for index in args[1]:
        if isinstance(index, torch.Tensor) and not isinstance(index, SimTensor):
            machine.transfer(HOST_TO_DEVICE, place.index, index.numel() * index.element_size())


def _different_devices_text(call: Dispatch, first: Device, hosts: list[torch.Tensor]) -> str:
    facts, func, args, shells = call.facts, call.func, call.args, call.shells
    # PyTorch notices in three places, each with words of its own: in the iterator over elements, in convolutions, and
    # in the wrapper that is generated around a kernel.
    if facts.name in ("masked_fill", "masked_fill_") and len(shells) == 1 and isinstance(args[0], SimTensor):
        return f"expected self and mask to be on the same device, but got mask on cpu and self on {first.public}"
    if facts.name in _ADDCMUL and len(hosts) == 1 and hosts[0].dim() == 0:
        named = call.named_arguments()
        return next(text for name, text in _NO_NUMBERS.items() if any(k == name and v is hosts[0] for k, v in named))
    if facts.name == "block_diag":
        places = [one.device for one in args[0]]
        i = next(i for i, place in enumerate(places) if place != places[0])
        return (
            "torch.block_diag: input tensors must all be on the same device. "
            f"Input 0 is on device {places[0]} and input {i} is on device {places[i]}"
        )
    if (facts.pointwise or facts.indexing or facts.name == "allclose") and facts.name not in _WRAPPED:
        other = next((shell.device for shell in shells if shell._place is not first), torch.device("cpu"))
        return (
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{first.public} and {other}!"
        )
    if facts.name == "convolution":
        also = (
            "" if isinstance(args[0], SimTensor) else " or input should be a MKLDNN tensor and weight is a dense tensor"
        )
        return f"Input type ({args[0].type()}) and weight type ({args[1].type()}) should be the same{also}"
    operator, other_names = _MADE_OF.get(facts.name, (facts.name, {}))
    operands: list[tuple[str, torch.device]] = []
    for name, value in call.named_arguments():
        items = value if isinstance(value, (list, tuple)) else (value,)
        operands += [(name, item.device) for item in items if isinstance(item, torch.Tensor)]
    # The wrapper compares with the first tensor, and names the first that lies elsewhere.
    common = operands[0][1]
    name, device = next((name, device) for name, device in operands if device != common)
    key = "CUDA" if first.public.type == "cuda" else "PrivateUse1"
    overload = func._overloadname if func._overloadname != "default" else ""
    wrapper = f"wrapper_{key}_{operator}" if operator in _STRUCTURED else f"wrapper_{key}_{overload}_{operator}"
    name = other_names.get(name, name)
    return (
        f"Expected all tensors to be on the same device, but got {name} is on {device}, different from other tensors "
        f"on {common} (when checking argument in method {wrapper})"
    )
