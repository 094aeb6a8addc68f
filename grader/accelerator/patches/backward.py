"""Backward runs in the calling thread, on the streams of forward; gradients on wrong devices are errors."""

from __future__ import annotations

import functools
from typing import Any

import torch

from grader.accelerator.core.backward_errors import RaiseAtEnd
from grader.accelerator.core.error_texts import use_public_name_in_errors
from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.replacing import put
from grader.accelerator.sim.backward_streams import StreamsOfForward
from grader.accelerator.sim.clock import Queue
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Patch autograd so that backward runs on the simulated streams on which forward ran.

    Backward then runs in the thread that calls it, and a gradient on a wrong device raises, as on CUDA.
    """
    _patch_backward(machine)
    _patch_custom_functions(machine)


def _patch_backward(machine: Machine) -> None:
    """Make backward run in the calling thread, with each node on the streams of forward.

    PyTorch has no thread for device indices above 0. The gradients that backward starts from are checked, too.
    """
    torch._C._set_multithreading_enabled(False)
    original: Any = torch.autograd.graph._engine_run_backward

    @use_public_name_in_errors
    def run_backward(*args: Any, **kwargs: Any) -> Any:
        """Run backward in the calling thread, with each node on the streams of forward."""
        before = torch._C._is_multithreading_enabled()
        # For each call again: the program may have switched it on meanwhile.
        torch._C._set_multithreading_enabled(False)
        for grad in args[1] if machine.races.several else ():
            # PyTorch lets streams of backward wait for each other, and for none that made the gradient it starts from.
            if isinstance(grad, SimTensor):
                machine.record_use(grad._place, "backward", [grad._block], [])
        args = (args[0], tuple(_check_initial_gradients(machine, args[0], args[1])), *args[2:])
        try:
            inputs = args[4] if len(args) > 4 else kwargs.get("inputs") or ()
            with RaiseAtEnd(), StreamsOfForward(machine, _queue_of_first_tensor(args[0]), args[0], inputs):
                return original(*args, **kwargs)
        finally:
            torch._C._set_multithreading_enabled(before)

    for owner in (torch.autograd, torch.autograd.graph):
        put(owner, "_engine_run_backward", run_backward)


def _check_initial_gradients(machine: Machine, outputs: Any, grads: Any) -> list[Any]:
    """Return the gradients that backward starts from, each on the device of its output.

    A gradient without dimensions is moved to that device; any other gradient raises if it is elsewhere. PyTorch's
    engine (`validate_outputs`) does both, except for wrapper subclasses.
    """
    checked = list(grads)
    for i, (output, grad) in enumerate(zip(outputs, grads, strict=True)):
        plain = isinstance(output, torch.Tensor) and not isinstance(output, SimTensor)
        if not isinstance(grad, torch.Tensor) or (plain and not isinstance(grad, SimTensor)):
            continue
        wanted, given = _public_device_of(machine, output), machine.public_device(grad.device)
        if given == wanted:
            continue
        if grad.dim():
            raise RuntimeError(f"invalid gradient at index {i} - expected device {wanted} but got {given}")
        checked[i] = grad.to(wanted)
    return checked


def _queue_of_first_tensor(outputs: Any) -> Queue:
    """Return the queue on which the first tensor of the device among some outputs was made.

    The outputs are those that backward starts from. The queue is the index of the device and the number of the stream;
    (0, 0) if no output is on a device.
    """
    return next((output._block.home for output in outputs if isinstance(output, SimTensor)), (0, 0))


def _public_device_of(machine: Machine, output: Any) -> torch.device:
    if isinstance(output, torch.Tensor):
        return machine.public_device(output.device)
    edge: torch.autograd.graph.GradientEdge = output
    metadata: Any = edge.node._input_metadata[edge.output_nr]
    return machine.public_device(metadata.device)


def _patch_custom_functions(machine: Machine) -> None:
    """Make a `torch.autograd.Function` check the devices of the gradients that it returns.

    Each gradient must be on the device of its input. PyTorch does not check gradients that are wrapper subclasses.
    """
    node: Any = torch.autograd.function.BackwardCFunction
    original = node.apply

    @functools.wraps(original)
    def apply(self: Any, *args: Any) -> Any:
        """Run backward of a `torch.autograd.Function`, and check the devices of its gradients.

        Raise if a gradient is on another device than its input.
        """
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
                wanted = machine.public_device(source._input_metadata[number].device)
                given_device = machine.public_device(given[i].device)
                if (machine.is_simulated(wanted) or machine.is_simulated(given_device)) and wanted != given_device:
                    raise RuntimeError(
                        f"Function {self.name()} returned an invalid gradient at index {i} - expected device {wanted} "
                        f"but got {given_device}"
                    )
        return grads

    put(node, "apply", apply)
