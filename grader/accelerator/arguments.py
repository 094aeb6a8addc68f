"""Device arguments: functions and methods that take a device are given the one that PyTorch knows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
import torch.utils._device as device_mode

from grader.accelerator.generators import ALWAYS_DRAW, SimGenerator, is_empty
from grader.accelerator.machine import Device, Machine
from grader.accelerator.nested import check_layout
from grader.accelerator.pinning import pin_storage
from grader.accelerator.replacing import put
from grader.accelerator.sparse import parts_of, rebuilt
from grader.accelerator.tensor import SimTensor, wrap

_FUNCTIONS = (
    *("arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_like", "empty_permuted"),
    *("empty_quantized", "empty_strided", "eye", "from_file", "full", "full_like", "hamming_window", "hann_window"),
    *("kaiser_window", "linspace", "logspace", "normal", "ones", "ones_like", "rand", "rand_like", "randint"),
    *("randint_like", "randn", "randn_like", "randperm", "range", "scalar_tensor", "sparse_coo_tensor"),
    *("tensor", "tril_indices", "triu_indices", "zeros", "zeros_like", "bernoulli", "multinomial", "poisson"),
)
"""Functions of `torch` that take a device or a generator by name."""

_METHODS = (
    *("new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros"),
    *("normal_", "uniform_", "random_", "bernoulli_", "bernoulli", "multinomial"),
    *("exponential_", "geometric_", "log_normal_", "cauchy_"),
)
"""Methods that take a device or a generator by name."""


def replace_functions(machine: Machine) -> None:
    """Functions of `torch` that make tensors, and the default device."""
    device_mode._device_constructors()  # before they are replaced: it holds what PyTorch hands to modes
    for name in _FUNCTIONS:
        replace(torch, name, _translated(machine, getattr(torch, name)))
    # It imported this one by name.
    put(torch.utils.data.dataset, "randperm", torch.randperm)
    # After the loop above: these two are wrapped twice, for the device and for the numbers in a list.
    for name in ("tensor", "as_tensor"):
        replace(torch, name, _of_numbers(machine, getattr(torch, name)))
    for name in ("sparse_csr_tensor", "sparse_csc_tensor", "sparse_bsr_tensor", "sparse_bsc_tensor"):
        replace(torch, name, _compressed(machine, getattr(torch, name)))
    replace(torch, "sparse_compressed_tensor", _compressed(machine, torch.sparse_compressed_tensor))
    replace(torch, "ctc_loss", _with_lengths(torch.ctc_loss))
    for name in ("fftfreq", "rfftfreq"):
        put(torch.fft, name, _translated(machine, getattr(torch.fft, name)))

    # PyTorch's own fills in the default device under its public name. That must be the inner one: what is called from
    # here is the original function, for which nobody translates any more.
    def in_mode(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in device_mode._device_constructors() and kwargs.get("device") is None:
            kwargs["device"] = machine.inner(self.device)
        return func(*args, **kwargs)

    put(device_mode.DeviceContext, "__torch_function__", in_mode)


def replace(owner: Any, name: str, new: Any) -> None:
    """Put a function of PyTorch in the place of another; TorchScript knows functions by their identity."""
    # Without this, TorchScript would try to compile our Python function in the place of an operator that it knows.
    operator = torch.jit._builtins._find_builtin(getattr(owner, name))
    put(owner, name, new)
    if operator is not None:
        torch.jit._builtins._register_builtin(new, operator)


def replace_methods(machine: Machine) -> None:
    """Methods of tensors that move, convert or make tensors."""
    original_to, original_type = torch.Tensor.to, torch.Tensor.type

    @functools.wraps(original_to)
    def to(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        device = args[0] if args and isinstance(args[0], (str, torch.device)) else kwargs.get("device")
        # Only a dtype, or another tensor whose device is to be taken: C++ finds that one by itself. It refuses any
        # other type with PyTorch's own TypeError.
        if device is None or not isinstance(self, torch.Tensor):
            return original_to(self, *args, **kwargs)
        if machine.is_ours(device) and _is_odd(self):
            return _sparse_moved(self, lambda part: original_to(part, machine.inner(device)))
        if "device" in kwargs:
            kwargs["device"] = machine.inner(device)
        else:
            args = (machine.inner(device), *args[1:])
        return original_to(self, *args, **kwargs)

    # Under the name of the kind: `.cuda()` in mode cuda, `.sim()` in mode sim.
    def cuda(
        self: torch.Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = torch.preserve_format
    ) -> Any:
        place = _place_of(machine, device)
        if _is_odd(self):
            return _sparse_moved(self, lambda part: original_to(part, place.inner, non_blocking=non_blocking))
        return original_to(self, place.inner, non_blocking=non_blocking, memory_format=memory_format)

    def of_type(self: torch.Tensor, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        if isinstance(dtype, str) and dtype.startswith(f"torch.{machine.kind}."):
            name = dtype.rpartition(".")[2].removesuffix("Tensor").lower()
            return self.to(machine.kind, getattr(torch, name), non_blocking=non_blocking)
        # The types in `torch.cuda` are stand-ins of ours, of which PyTorch's own `type` knows nothing.
        legacy: Any = getattr(torch.cuda, str(getattr(dtype, "__name__", "")), None) if machine.kind == "cuda" else None
        if legacy is not None and legacy is dtype:
            return self.to(machine.kind, legacy.dtype, non_blocking=non_blocking)
        return original_type(self, dtype, non_blocking, **kwargs)

    original_new = torch.Tensor.new_tensor

    @functools.wraps(original_new)
    def new_tensor(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        # Without a device PyTorch takes that of `self`, but forgets its index.
        device = kwargs.get("device") or (self.device if isinstance(self, SimTensor) else None)
        args = tuple(_on_the_host(machine, arg) for arg in args)
        return original_new(self, *args, **{**kwargs, "device": machine.inner(device)})

    put(torch.Tensor, "to", to)
    put(torch.Tensor, "new_tensor", new_tensor)
    put(torch.Tensor, "type", of_type)
    put(torch.Tensor, machine.kind, cuda)
    # Parameters without a shape refuse all functions but those on a list, and the list holds the originals.
    lazy: Any = torch.nn.parameter.UninitializedParameter
    lazy._allowed_methods.extend((to, cuda))
    for name in _METHODS:
        put(torch.Tensor, name, _translated(machine, getattr(torch.Tensor, name)))


def _place_of(machine: Machine, device: Any) -> Device:
    if not (device is None or isinstance(device, int) or machine.is_ours(device)):
        raise RuntimeError(f"Invalid device, must be {machine.kind} device")
    return machine.devices[machine.index_of(device)]


def _is_odd(tensor: torch.Tensor) -> bool:
    """Whether a CPU tensor is sparse; raises for one that is nested and cannot go there."""
    # A program's `TorchFunctionMode` sees what the program calls, and these questions are ours.
    with torch._C.DisableTorchFunction():
        check_layout(tensor)
        return tensor.layout not in (torch.strided, torch.jagged) and not isinstance(tensor, SimTensor)


def _sparse_moved(tensor: torch.Tensor, move: Callable[[torch.Tensor], Any]) -> torch.Tensor:
    """A sparse CPU tensor on the device: its parts move."""
    if tensor.requires_grad:
        raise NotImplementedError("a sparse tensor that requires a gradient is to be made on the simulated device")
    parts = [move(part.detach()) for part in parts_of(tensor)]
    return wrap(rebuilt(tensor, [part._inner for part in parts]), parts[0]._place)


def _compressed(machine: Machine, original: Any) -> Any:
    """For functions that make a tensor of compressed rows or columns, which C++ would make in a class of its own."""

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [arg for arg in (*args, *kwargs.values()) if isinstance(arg, SimTensor)]
        if not given and not machine.is_ours(kwargs.get("device") or torch.get_default_device()):
            return original(*args, **kwargs)
        if any(one.requires_grad for one in given):
            raise NotImplementedError("values that require a gradient are supported in sparse_coo_tensor alone")
        place = given[0]._place if given else machine.devices[machine.index_of(kwargs.get("device"))]
        args = tuple(arg._inner if isinstance(arg, SimTensor) else arg for arg in args)
        kwargs = {name: arg._inner if isinstance(arg, SimTensor) else arg for name, arg in kwargs.items()}
        made = original(*args, **{**kwargs, "device": "cpu"})
        return wrap(made, place) if given else made.to(place.public)

    return call


def _translated(machine: Machine, original: Any) -> Any:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("device") is not None:
            kwargs["device"] = machine.inner(kwargs["device"])
        if kwargs.get("generator") is not None:
            _check_generator(machine, original, args, kwargs)
        # PyTorch would ask a real accelerator for pinned memory.
        if kwargs.get("pin_memory"):
            return _pinned(original, args, kwargs)
        return original(*args, **kwargs)

    return call


def _of_numbers(machine: Machine, translated: Any) -> Any:
    """For functions that read a list's tensors number by number; PyTorch takes our class for a sequence."""

    @functools.wraps(translated)
    def call(*args: Any, **kwargs: Any) -> Any:
        return translated(*(_on_the_host(machine, arg) for arg in args), **kwargs)

    return call


def _on_the_host(machine: Machine, data: Any) -> Any:
    """Lists and tuples with the CPU tensors in place of ours, each of which the host has to wait for."""
    # Looking costs less than copying, and nearly all lists hold numbers.
    if not isinstance(data, (list, tuple)) or not _holds_ours(data):
        return data
    items = []
    for item in data:
        if isinstance(item, SimTensor):
            machine.read_scalar("item", item._place.index)
            items.append(item._inner)
        else:
            items.append(_on_the_host(machine, item))
    return items


def _holds_ours(data: Any) -> bool:
    return any(isinstance(item, SimTensor) or (isinstance(item, (list, tuple)) and _holds_ours(item)) for item in data)


def _with_lengths(original: Any) -> Any:
    """`ctc_loss` reads the lengths on the host, wherever they are."""

    @functools.wraps(original)
    def call(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, *args: Any, **kwargs: Any) -> Any:
        read = [
            lengths.tolist() if isinstance(lengths, torch.Tensor) and isinstance(log_probs, SimTensor) else lengths
            for lengths in (input_lengths, target_lengths)
        ]
        return original(log_probs, targets, *read, *args, **kwargs)

    return call


def _check_generator(machine: Machine, original: Any, args: Any, kwargs: dict[str, Any]) -> None:
    """A generator of ours makes no numbers for the CPU; the other way round is refused where operators run."""
    generator = kwargs["generator"]
    if not isinstance(generator, SimGenerator) or any(isinstance(arg, SimTensor) for arg in args):
        return
    if machine.is_ours(kwargs.get("device") or torch.get_default_device()):
        return
    if original.__name__ in ALWAYS_DRAW or not is_empty(original, args, kwargs):
        raise RuntimeError(f"Expected a 'cpu' device type for generator but found '{generator.device.type}'")


def _pinned(original: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    kwargs["pin_memory"] = False
    made = original(*args, **kwargs)
    if isinstance(made, SimTensor):
        raise RuntimeError("Only dense CPU tensors can be pinned")
    return pin_storage(made)
