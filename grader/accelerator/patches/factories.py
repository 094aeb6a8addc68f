"""Functions of `torch` that make tensors take the device by its public name, and give C++ the inner one."""

from __future__ import annotations

import functools
from typing import Any

import torch
import torch.utils._device as device_mode

from grader.accelerator.core.array_interface import has_array_interface, tensor_from_array_interface
from grader.accelerator.core.pinned_memory import mark_pinned
from grader.accelerator.core.tensor import SimTensor, wrap
from grader.accelerator.refusals import refusal
from grader.accelerator.replacing import put
from grader.accelerator.sim.generator import ALWAYS_DRAW, SimGenerator, makes_empty_tensor
from grader.accelerator.sim.machine import Machine

_FUNCTIONS = (
    *("arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_like", "empty_permuted"),
    *("empty_quantized", "empty_strided", "eye", "from_file", "full", "full_like", "hamming_window", "hann_window"),
    *("kaiser_window", "linspace", "logspace", "normal", "ones", "ones_like", "rand", "rand_like", "randint"),
    *("randint_like", "randn", "randn_like", "randperm", "range", "scalar_tensor", "sparse_coo_tensor"),
    *("tensor", "tril_indices", "triu_indices", "zeros", "zeros_like", "bernoulli", "multinomial", "poisson"),
)
"""Functions of `torch` that take a device or a generator by name."""

_COMPRESSED = {torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc}


def install(machine: Machine) -> None:
    """Let `torch.zeros` and similar functions make tensors on the device by its public name.

    For `torch.zeros(2, device="cuda:0")`, the new function calls C++ with the inner name `sim:0`.
    """
    originals = frozenset(device_mode._device_constructors())  # before they are replaced: C++ passes them to modes
    for name in _FUNCTIONS:
        put(torch, name, translate_device(machine, getattr(torch, name)))
    # It imported this one by name.
    put(torch.utils.data.dataset, "randperm", torch.randperm)
    # After the loop above: these two are wrapped twice, for the device and for the numbers in a list.
    for name in ("tensor", "as_tensor"):
        put(torch, name, _wrap_for_lists(machine, getattr(torch, name)))
    for name in ("sparse_csr_tensor", "sparse_csc_tensor", "sparse_bsr_tensor", "sparse_bsc_tensor"):
        put(torch, name, _wrap_for_compressed_layout(machine, getattr(torch, name)))
    put(torch, "sparse_compressed_tensor", _wrap_for_compressed_layout(machine, torch.sparse_compressed_tensor))
    put(torch, "sparse_coo_tensor", _wrap_sparse_coo_tensor(machine, torch.sparse_coo_tensor))
    put(torch, "ctc_loss", _wrap_ctc_loss(torch.ctc_loss))
    for name in ("fftfreq", "rfftfreq"):
        put(torch.fft, name, translate_device(machine, getattr(torch.fft, name)))

    device_mode._device_constructors.cache_clear()
    replaced = frozenset(device_mode._device_constructors()) - originals

    # PyTorch's own fills in the default device under its public name. An original function takes the inner one.
    def in_mode(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if (func in originals or func in replaced) and kwargs.get("device") is None:
            kwargs["device"] = self.device if func in replaced else machine.to_inner_device(self.device)
        return func(*args, **kwargs)

    put(device_mode.DeviceContext, "__torch_function__", in_mode)


def _wrap_for_compressed_layout(machine: Machine, original: Any) -> Any:
    """Return a wrapper of a function such as `sparse_csr_tensor` that accepts the device.

    The function makes a sparse tensor with compressed rows or columns.
    """
    rows, columns = ("crow_indices", "col_indices"), ("ccol_indices", "row_indices")
    by_columns = original.__name__ in ("sparse_csc_tensor", "sparse_bsc_tensor")

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        """Make the sparse tensor on the requested device, else on that of its values."""
        named = {**dict(zip(("compressed", "plain", "values"), args, strict=False)), **kwargs}
        given = [one for one in named.values() if isinstance(one, SimTensor)]
        device = kwargs.get("device")
        if not given and not machine.is_simulated(device or torch.get_default_device()):
            return original(*args, **kwargs)
        if any(one.requires_grad for one in given):
            raise refusal("values that require a gradient are supported in sparse_coo_tensor alone")
        if device is None and given:
            compressed_columns = by_columns or kwargs.get("layout") in (torch.sparse_csc, torch.sparse_bsc)
            device = _device_of_values(named, columns if compressed_columns else rows)
        # Tensors of the CPU are moved as a whole; where some are on a device, each other one is moved alone.
        if not given or not machine.is_simulated(device):
            args = tuple(one.cpu() if isinstance(one, SimTensor) else one for one in args)
            kwargs = {name: one.cpu() if isinstance(one, SimTensor) else one for name, one in kwargs.items()}
            made = original(*args, **{**kwargs, "device": "cpu"})
            return made.to(machine.devices[machine.index_of(device)].public) if machine.is_simulated(device) else made
        place = machine.devices[machine.index_of(device)]

        def inner(one: Any) -> Any:
            moved: Any = one.to(place.public) if isinstance(one, torch.Tensor) else None
            return one if moved is None else moved._inner

        args = tuple(map(inner, args))
        kwargs = {name: inner(one) for name, one in kwargs.items()}
        return wrap(original(*args, **{**kwargs, "device": "cpu"}), place)

    return call


def _device_of_values(named: dict[str, Any], indices: tuple[str, str]) -> torch.device:
    """Return the device of the values of a compressed sparse tensor.

    Raise PyTorch's error if the indices of the tensor are on another device.

    Args:
        named: the arguments of a function that makes a compressed sparse tensor, by name.
        indices: the names of the compressed indices and of the plain indices, such as `crow_indices` and `col_indices`.
    """
    values: Any = named["values"]
    device = values.device if isinstance(values, torch.Tensor) else torch.get_default_device()
    for name, short in zip(indices, ("compressed", "plain"), strict=True):
        index: Any = next((named[key] for key in (short, name, f"{short}_indices") if key in named), None)
        if isinstance(index, torch.Tensor) and index.device != device:
            raise RuntimeError(f"Values and {name} need to be on the same device.")
    return device


def translate_device(machine: Machine, original: Any) -> Any:
    """Wrap a function that makes tensors so that it accepts the device's public name.

    The wrapper passes `sim:1` to C++ for `device="cuda:1"`. It also checks the device of a generator, and makes pinned
    memory.
    """

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        """Call the function with the device's inner name.

        Compressed sparse tensors are made on the CPU, and then moved.
        """
        if not kwargs:
            return original(*args)
        if kwargs.get("device") is not None:
            kwargs["device"] = machine.to_inner_device(kwargs["device"])
        if kwargs.get("generator") is not None:
            _check_generator(machine, original, args, kwargs)
        if kwargs.get("layout") in _COMPRESSED and machine.is_simulated(
            kwargs.get("device") or torch.get_default_device()
        ):
            # C++ makes these without an operator, and a tensor of its own.
            device = machine.inner_device(kwargs.get("device") or torch.get_default_device())
            return original(*args, **{**kwargs, "device": "cpu"}).to(machine.public_device(device))
        # PyTorch would ask a real accelerator for pinned memory.
        if kwargs.get("pin_memory"):
            return _make_pinned(original, args, kwargs)
        return original(*args, **kwargs)

    return call


def _wrap_sparse_coo_tensor(machine: Machine, original: Any) -> Any:
    """Return a wrapper of `sparse_coo_tensor` that keeps the index of the requested device.

    C++ forgets this index in a call without values. Without `device` the default device is requested.
    """

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        device, before = kwargs.get("device") or torch.get_default_device(), machine.current
        if machine.is_simulated(device):
            machine.current = machine.index_of(device)
        try:
            return original(*args, **kwargs)
        finally:
            machine.current = before

    return call


def _wrap_for_lists(machine: Machine, original: Any) -> Any:
    """Wrap `torch.tensor` or `torch.as_tensor` so that lists may hold tensors of the device.

    Return the wrapper. It accepts objects with a `__cuda_array_interface__`, too: `tensor` always copies such an
    object, `as_tensor` only for another dtype or device. A call without `device` puts the result on the default device.

    Args:
        machine: the machine that is simulated.
        original: the function, which takes the device by its public name already.
    """

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if args and not isinstance(args[0], (list, tuple, int, float)) and has_array_interface(args[0]):
            given: Any = tensor_from_array_interface(machine, args[0])
            device = kwargs.get("device") or torch.get_default_device()
            moved = given.to(device, kwargs.get("dtype") or given.dtype, copy=original.__name__ == "tensor")
            return moved.requires_grad_() if kwargs.get("requires_grad") else moved
        return original(*(unwrap_lists(machine, arg) for arg in args), **kwargs)

    return call


def unwrap_lists(machine: Machine, data: Any) -> Any:
    """Replace tensors of the device in nested lists by CPU tensors, which C++ can read.

    For a tensor `x` of the device, `[x, [2.0]]` becomes `[x._inner, [2.0]]`. The host waits for each of these tensors.
    Data without such a tensor is returned itself.
    """
    # Looking costs less than copying, and nearly all lists hold numbers.
    if not isinstance(data, (list, tuple)) or not _holds_sim_tensors(data):
        return data
    items = []
    for item in data:
        if isinstance(item, SimTensor):
            machine.read_scalar("item", item._place.index)
            items.append(item._inner)
        else:
            items.append(unwrap_lists(machine, item))
    return items


def _holds_sim_tensors(data: Any) -> bool:
    return any(
        isinstance(item, SimTensor) or (isinstance(item, (list, tuple)) and _holds_sim_tensors(item)) for item in data
    )


def _wrap_ctc_loss(original: Any) -> Any:
    """Return a wrapper of `ctc_loss` that first copies lengths from the device to the host.

    The loss reads lengths on the host.
    """

    @functools.wraps(original)
    def call(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, *args: Any, **kwargs: Any) -> Any:
        read = [
            lengths.tolist() if isinstance(lengths, torch.Tensor) and isinstance(log_probs, SimTensor) else lengths
            for lengths in (input_lengths, target_lengths)
        ]
        return original(log_probs, targets, *read, *args, **kwargs)

    return call


def _check_generator(machine: Machine, original: Any, args: Any, kwargs: dict[str, Any]) -> None:
    """Raise `RuntimeError` for a CPU tensor with a generator of the simulated device.

    The generator would draw the numbers of that tensor. The opposite, tensors of the device from a CPU generator, is
    checked where operators run.
    """
    generator = kwargs["generator"]
    if not isinstance(generator, SimGenerator) or any(isinstance(arg, SimTensor) for arg in args):
        return
    if machine.is_simulated(kwargs.get("device") or torch.get_default_device()):
        return
    if original.__name__ in ALWAYS_DRAW or not makes_empty_tensor(original, args, kwargs):
        raise RuntimeError(f"Expected a 'cpu' device type for generator but found '{generator.device.type}'")


def _make_pinned(original: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    kwargs["pin_memory"] = False
    made = original(*args, **kwargs)
    if isinstance(made, SimTensor):
        raise RuntimeError("Only dense CPU tensors can be pinned")
    return mark_pinned(made)
