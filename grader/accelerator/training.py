"""Backward, and parameters that move with their module and stay the same objects, as on CUDA."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch._C import TensorBase

from grader.accelerator.arguments import replace
from grader.accelerator.failures import RaisedAfter
from grader.accelerator.machine import Machine
from grader.accelerator.replacing import put
from grader.accelerator.tensor import SimTensor, become, set_data
from grader.accelerator.words import naming


def replace_backward(machine: Machine) -> None:
    """Run backward in the calling thread: PyTorch has no thread for indices above 0."""
    torch._C._set_multithreading_enabled(False)
    original: Any = torch.autograd.graph._engine_run_backward

    @naming
    def run_backward(*args: Any, **kwargs: Any) -> Any:
        before = torch._C._is_multithreading_enabled()
        # For each call again: the program may have switched it on meanwhile.
        torch._C._set_multithreading_enabled(False)
        for grad in args[1] if machine.races.several else ():
            # PyTorch lets streams of backward wait for each other, and for none that made the gradient it starts from.
            if isinstance(grad, SimTensor):
                machine.use(grad._place, "backward", [grad._block], [])
        try:
            with RaisedAfter():
                return original(*args, **kwargs)
        finally:
            torch._C._set_multithreading_enabled(before)

    for owner in (torch.autograd, torch.autograd.graph):
        put(owner, "_engine_run_backward", run_backward)


def name_in_errors() -> None:
    """Errors of C++ that come from no operator of the device name it as Python code does.

    They are about a gradient on another device, recurrent layers, and functions that C++ makes of several operators.
    """
    grad: Any = TensorBase.grad
    put(torch.Tensor, "grad", property(grad.__get__, naming(grad.__set__), grad.__delete__))
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        put(torch._VF, name, _as_cudnn(naming(getattr(torch._VF, name))))
    for name in ("stft", "tensordot"):
        put(torch._VF, name, naming(getattr(torch._VF, name)))
    for owner, name in ((torch, "istft"), (torch, "gradient"), (torch.linalg, "multi_dot"), (torch.linalg, "norm")):
        replace(owner, name, naming(getattr(owner, name)))


def _as_cudnn(original: Any) -> Any:
    """Only in training mode cuDNN keeps what backward needs."""

    def refuse(grad: torch.Tensor) -> None:
        del grad
        raise RuntimeError("cudnn RNN backward can only be called in training mode")

    @functools.wraps(original)
    def call(*args: Any) -> Any:
        made = original(*args)
        # A packed sequence comes with the sizes of its batches, so that all else stands one place later.
        training = args[6] if isinstance(args[3], bool) else args[7]
        if isinstance(args[0], SimTensor) and not training and torch.backends.cudnn.enabled:
            for one in made:
                if one.requires_grad:
                    one.register_hook(refuse)
        return made

    return call


def check_gradients(machine: Machine) -> None:
    """Let a custom function give gradients on the right device only; PyTorch does not check tensors like ours."""
    node: Any = torch.autograd.function.BackwardCFunction
    original = node.apply

    @functools.wraps(original)
    def apply(self: Any, *args: Any) -> Any:
        grads = original(self, *args)
        given = grads if isinstance(grads, tuple) else (grads,)
        # `next_functions` has an entry for each tensor that went in, empty where none needs a gradient;
        # `needs_input_grad` has one for everything that went in.
        edges = [edge for edge in self.next_functions if edge[0] is not None]
        for i, needed in enumerate(self.needs_input_grad):
            if not needed or not edges:
                continue
            source, number = edges.pop(0)
            if i < len(given) and isinstance(given[i], torch.Tensor) and given[i].dim():
                wanted = machine.public(source._input_metadata[number].device)
                given_device = machine.public(given[i].device)
                if (machine.is_ours(wanted) or machine.is_ours(given_device)) and wanted != given_device:
                    raise RuntimeError(
                        f"Function {self.name()} returned an invalid gradient at index {i} - expected device {wanted} "
                        f"but got {given_device}"
                    )
        return grads

    put(node, "apply", apply)


def replace_modules() -> None:
    """Modules that move, and `parameter.data = ...` from one device to another."""
    original: Any = torch.nn.Module._apply

    @functools.wraps(original)
    def apply(self: Any, fn: Any, recurse: bool = True) -> Any:
        # PyTorch's own would put new Parameter objects into a module that changes the device, and an optimizer made
        # before would train the old ones. On CUDA they stay the same objects, and so they do here.
        known: dict[int, torch.Tensor] = {}

        def moved(tensor: torch.Tensor) -> Any:
            with torch.no_grad():
                return known.pop(id(tensor)) if id(tensor) in known else fn(tensor)

        params = [param for param in self._parameters.values() if param is not None]
        _move_lazy(self, moved)
        params = [param for param in params if not torch.nn.parameter.is_lazy(param)]
        # The first parameter tells where all go. It is moved once: moving it again for real would be counted twice.
        first = params[0] if params else None
        if first is not None:
            known[id(first)] = moved(first)
        if first is None or SimTensor not in (type(first), type(known[id(first)])):
            # No device of ours has to do with it: PyTorch's way, from the beginning.
            known.clear()
            return original(self, fn, recurse)
        for child in self.children() if recurse else ():
            child._apply(fn)
        if isinstance(self, torch.jit.ScriptModule):
            # Its parameters lie in C++; what Python gives looks at the same memory, and to move that moves nothing.
            named: Any = self._parameters
            for name, param in list(named.items()):
                named[name] = torch.nn.Parameter(moved(param), param.requires_grad)
            params = []
        for param in params:
            _move(param, moved)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def data(self: torch.Tensor) -> torch.Tensor:
        return TensorBase.data.__get__(self)  # type: ignore[attr-defined, no-any-return]

    put(torch.nn.Module, "_apply", apply)
    put(torch.Tensor, "data", property(data, set_data))


def pad_the_padded() -> None:
    """`nn.TransformerEncoder` gives zeros for what is padded where PyTorch would skip it, in nested tensors."""
    encoder: Any = torch.nn.TransformerEncoder
    original, to_nested = encoder.forward, torch._nested_tensor_from_mask

    class Nested(Exception):
        """PyTorch takes its fast path."""

    def from_mask(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if isinstance(tensor, SimTensor):
            raise Nested
        return to_nested(tensor, *args, **kwargs)

    @functools.wraps(original)
    def forward(self: Any, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: Any = None) -> Any:
        try:
            return original(self, src, mask, src_key_padding_mask, is_causal)
        except Nested:
            pass
        # By the ordinary path; what it makes of padded places is not what the fast one leaves there.
        fast: Any = torch.backends.mha
        before = fast.get_fastpath_enabled()
        fast.set_fastpath_enabled(False)
        try:
            out = original(self, src, mask, src_key_padding_mask, is_causal)
        finally:
            fast.set_fastpath_enabled(before)
        padded = src_key_padding_mask
        padded = padded if padded.dtype is torch.bool else padded < 0
        return out.masked_fill(padded[:, :, None], 0.0)

    put(torch, "_nested_tensor_from_mask", from_mask)
    put(encoder, "forward", forward)


def _move_lazy(module: torch.nn.Module, moved: Any) -> None:
    """What has no shape yet notes its new place, and keeps it where only the dtype changes."""
    is_lazy: Any = torch.nn.parameter.is_lazy
    for param in filter(is_lazy, module._parameters.values()):
        if (new := moved(param)) is not param:
            param.data = new
            param.__dict__.update(new.__dict__)
    for name, buffer in module._buffers.items():
        if is_lazy(buffer):
            module._buffers[name] = new = moved(buffer)
            new.__dict__.update({**buffer.__dict__, **new.__dict__})


def _move(param: torch.Tensor, moved: Any) -> None:
    # The gradient is taken along, as PyTorch does; it is set again at last, when the parameter has its new place.
    new = moved(param)
    grad = None if param.grad is None else moved(param.grad).requires_grad_(param.grad.requires_grad)
    if new is not param:
        become(param, torch.nn.Parameter(new, param.requires_grad))
    param.grad = grad
