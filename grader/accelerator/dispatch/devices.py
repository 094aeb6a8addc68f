"""One device for all operands, or PyTorch's own error."""

from __future__ import annotations

import functools
from typing import Any

import torch

from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.dispatch.record import Dispatch
from grader.accelerator.schema.cuda_kernels import cuda_kernel
from grader.accelerator.sim.counters import HOST_TO_DEVICE
from grader.accelerator.sim.machine import Device, Machine

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

_WRAPPED = {
    *("clamp", "clamp_", "clamp_min", "clamp_min_", "clamp_max", "clamp_max_", "isin", "equal", "gcd", "lcm"),
    *("logaddexp", "logaddexp2", "nextafter", "nextafter_", "igamma", "igamma_", "igammac", "igammac_"),
    *("gelu_backward", "logit_backward", "native_dropout_backward", "sigmoid_backward", "silu_backward"),
    *("tanh_backward", "threshold_backward"),
}
"""Operators that take no number from the host, though they go element by element: their wrapper compares devices."""

_ANYWHERE = {"is_same_size", "_has_same_storage_numel", "_new_zeros_with_same_feature_meta"}
"""Operators that look at no numbers of their second tensor."""

_ADDCMUL = ("addcmul", "addcmul_")

_NO_NUMBERS = {
    "self": "CPU Scalar support for self argument is not supported when calling addcmul on CUDA tensors.",
    "tensor1": "CPU Scalar support for tensor1 argument is not supported when calling addcmul on CUDA tensors. "
    "However, CPU Scalar support for tensor2 is supported, please swap your tensor1 and tensor2 terms.",
}
"""Arguments of `addcmul` that its kernel does not take from the host, and what it says."""

_MADE_OF = {
    "embedding": ("index_select.default", {"indices": "index"}),
    "stack": ("cat.default", {}),
    "_sparse_addmm": ("addmm.default", {}),
    "masked_scatter": ("masked_scatter_.default", {}),
    "put": ("put_.default", {}),
    "index_fill": ("index_fill_.int_Tensor", {}),
}
"""Operators that call another one, which compares the devices, with other names of its arguments."""

_ELEMENT_BY_ELEMENT = {
    *("allclose", "dist", "_trilinear", "_euclidean_dist", "soft_margin_loss", "soft_margin_loss_backward"),
    *("huber_loss_backward", "smooth_l1_loss_backward", "rrelu_with_noise_backward"),
}
"""Operators made of others that go element by element, which compare the devices."""


def check_devices(call: Dispatch) -> None:
    """Raise PyTorch's own error unless all operands are on one device.

    A 0-dim CPU tensor and index tensors on the CPU are allowed where CUDA allows them.
    """
    facts, args, shells, hosts = call.facts, call.args, call.shells, call.hosts
    if not shells:
        return
    first = shells[0]._place
    same = are_on_one_device(shells)
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
            if hosts and not fills_through_mask(args):
                call.machine.transfer(HOST_TO_DEVICE, first.index, args[0].element_size())
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


def run_foreach_one_by_one(call: Dispatch) -> Any:
    """Run an operator such as `torch._foreach_mul` on lists of tensors on several devices.

    As on CUDA, the operator runs once for each index of the lists: `torch._foreach_mul([a, b], 2.0)` runs with `[a]`,
    then with `[b]`.

    Returns:
        What the operator returns. NotImplemented if the caller shall run the operator like any other: all tensors are
        on one device, the lists have different lengths, or each list has one tensor. A `_foreach_copy_` of one tensor
        is run here.
    """
    if are_on_one_device(call.shells) and not any(host.dim() for host in call.hosts):
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


def are_on_one_device(shells: list[SimTensor]) -> bool:
    """Return whether all these tensors, at least one, are on the same device."""
    first = shells[0]._place
    for shell in shells:  # noqa: SIM110  `all` takes longer, and each operator comes here
        if shell._place is not first:
            return False
    return True


def _check_indices(args: Any) -> None:
    """Raise `RuntimeError` if an index tensor of `x[...]` is on another simulated device than `x`."""
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


def fills_through_mask(args: Any) -> bool:
    """Return True if `index_put_` fills with one number through a mask.

    PyTorch decides this in `canDispatchToMaskedFill`. If True, the kernel takes the number from the host. Otherwise a
    number on the host is first copied to the device.

    Args:
        args: the arguments of an operator that indexes: the tensor, its indices, for `index_put_` also the values.
    """
    if len(args) < 3 or args[2].numel() != 1 or (len(args) > 3 and args[3]):
        return False
    given = [index for index in args[1] if index is not None]
    return len(given) == 1 and given[0].dtype in (torch.bool, torch.uint8)


def _different_devices_text(call: Dispatch, first: Device, hosts: list[torch.Tensor]) -> str:
    """Return the text of PyTorch's error for operands on different devices.

    It depends on the operator. For `x + y` it is "Expected all tensors to be on the same device, but found at least two
    devices, cuda:0 and cpu!".

    Args:
        call: the call of the operator.
        first: the device of the first simulated tensor.
        hosts: the operands on the CPU.
    """
    facts, func, args, shells = call.facts, call.func, call.args, call.shells
    # PyTorch notices in three places, each with words of its own: in the iterator over elements, in convolutions, and
    # in the wrapper that is generated around a kernel.
    if facts.name in ("masked_fill", "masked_fill_") and len(shells) == 1 and isinstance(args[0], SimTensor):
        return f"expected self and mask to be on the same device, but got mask on cpu and self on {first.public}"
    if facts.name in ("masked_fill", "masked_fill_") and not isinstance(args[0], SimTensor):
        return "masked_fill_: Expected inputs to be on same device"
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
    if facts.name == "convolution":
        also = (
            "" if isinstance(args[0], SimTensor) else " or input should be a MKLDNN tensor and weight is a dense tensor"
        )
        return f"Input type ({args[0].type()}) and weight type ({args[1].type()}) should be the same{also}"
    if facts.name == "cholesky_solve":
        b, a = args[0].device, args[1].device
        return f"Expected b and A to be on the same device, but found b on {b} and A on {a} instead."
    if text := _sparse_error_text(facts.name, args):
        return text
    operator, other_names = _MADE_OF.get(facts.name, ("", {}))
    func = functools.reduce(getattr, operator.split("."), torch.ops.aten) if operator else func
    operands = _named_tensors(call)
    if facts.name == "mv" and args[0].layout is not torch.sparse_coo:
        # It calls `addmv_`, which writes to a new vector beside the given one.
        addmv = torch.ops.aten.addmv
        func = torch.ops.aten.addmv_.default if args[0].layout is torch.strided else addmv.out
        operands = [("self", args[1]), ("mat", args[0]), ("vec", args[1])]
    kernel = cuda_kernel(func, [tensor for _, tensor in operands])
    element_by_element = facts.pointwise or facts.indexing or facts.name in _ELEMENT_BY_ELEMENT
    if element_by_element if kernel is None else not kernel.compares_devices:
        other = next((shell.device for shell in shells if shell._place is not first), torch.device("cpu"))
        return (
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{first.public} and {other}!"
        )
    # The wrapper compares with the first tensor, and names the first that lies elsewhere.
    common = operands[0][1].device
    name, device = next((name, tensor.device) for name, tensor in operands if tensor.device != common)
    wrapper = kernel.wrapper if kernel is not None else f"wrapper_CUDA__{facts.name}"
    if first.public.type != "cuda":
        wrapper = wrapper.replace("CUDA", "PrivateUse1")
    return (
        f"Expected all tensors to be on the same device, but got {other_names.get(name, name)} is on {device}, "
        f"different from other tensors on {common} (when checking argument in method {wrapper})"
    )


def _sparse_error_text(name: str, args: Any) -> str:
    """Return the text of the error for a sum or a product of sparse tensors on two devices.

    An example is "mul: expected 'other' to be CUDA, but got CPU". The text is "" for any other operator.
    """
    word = {"add": "add", "sub": "add", "mul": "mul"}.get(name.removesuffix("_"))
    layouts = {arg.layout for arg in args[:2] if isinstance(arg, torch.Tensor)}
    if word is None or torch.sparse_coo not in layouts:
        return ""
    elsewhere = "other" if isinstance(args[0], SimTensor) else "self"
    if layouts == {torch.sparse_coo} or word == "mul":
        return f"{word}: expected '{elsewhere}' to be CUDA, but got CPU"
    return f"add: expected '{elsewhere}' to be a CUDA tensor, but got a CPU tensor"


def _named_tensors(call: Dispatch) -> list[tuple[str, torch.Tensor]]:
    """Return the tensors among the arguments, each with the name of its argument.

    For `torch.mm(x, y)` they are `[("self", x), ("mat2", y)]`. The tensors of `out=` come first.
    """
    found: list[tuple[str, torch.Tensor]] = []
    outs = [name for name in call.facts.writes if name in call.facts.keywords]
    for name, value in sorted(call.named_arguments(), key=lambda pair: pair[0] not in outs):
        items = value if isinstance(value, (list, tuple)) else (value,)
        found += [(name, item) for item in items if isinstance(item, torch.Tensor)]
    return found
