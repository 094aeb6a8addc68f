"""Turning the simulated accelerator on, once in a process."""

from __future__ import annotations

import importlib
from typing import Literal

import torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from grader.accelerator import (
    arguments,
    attention,
    autocast,
    cuda_tools,
    custom,
    graphs,
    lazy,
    nested,
    operators,
    parallel,
    profiling,
    queries,
    queues,
    refusals,
    sparse,
    storages,
    tensor,
    training,
    warned,
)
from grader.accelerator.device_module import default_generators, make_module
from grader.accelerator.failures import Guard
from grader.accelerator.forked import lose_in_children
from grader.accelerator.machine import INNER, Machine, machine_or_none, set_machine
from grader.accelerator.spec import Spec

Mode = Literal["sim", "cuda", "none"]


# C++ may ask an accelerator these three things; the answers of the class above are errors.
class _Hooks(torch._C._acc.PrivateUse1Hooks):
    def is_available(self) -> bool:
        return True

    def has_primary_context(self, device_id: int) -> bool:
        del device_id
        return True

    def is_built(self) -> bool:
        return True


def preload() -> None:
    """Import all that `enable` needs, for a process that forks. It registers and replaces nothing."""
    import torch.accelerator.memory
    import torch.cuda._sanitizer
    import torch.cuda.comm
    import torch.utils.benchmark

    # All three are made at first use and kept; made here, every forked child has them.
    torch.jit._builtins._get_builtin_table()
    torch.utils._device._device_constructors()
    warned.names_of_ours()


def preload_operations() -> None:
    """Do ahead what a first operation needs: import 500 modules in half a second, and register the device's kernels.

    PyTorch looks in those modules whether a subclass of its tensors is a DTensor. The kernels are of a device that
    nothing can name before `enable`.
    """
    if torch.distributed.is_available():
        importlib.import_module("torch.distributed.tensor")
    operators.register()


def enable(mode: Mode = "sim", *, indices: int = 2, spec: Spec | None = None) -> Machine | None:
    """Simulate an accelerator in this process, for good.

    Args:
        mode: "sim" for a device of that name; "cuda" for one that calls itself cuda and answers for `torch.cuda`;
            "none" for no accelerator at all, even if the machine has one.
        indices: how many devices there are.
        spec: how fast and large each is.

    Returns:
        The machine, which counts; None in mode "none".

    Raises:
        RuntimeError: an accelerator is simulated in this process already.
        ValueError: an unknown mode, or fewer than one index.
    """
    # No machine: a device that is not there has nothing to count.
    if mode == "none":
        queries.hide_others()
        return None
    if mode not in ("sim", "cuda"):
        raise ValueError(f'mode is "sim", "cuda" or "none", not {mode!r}')
    if not 1 <= indices <= 16:
        raise ValueError(f"indices is from 1 to 16, not {indices}")
    if machine_or_none() is not None:
        raise RuntimeError("the simulated accelerator is on already; a process has one, and for good")
    # PrivateUse1 is the place that PyTorch keeps for devices that it does not know. It can be renamed once, and CUDA's
    # name is taken, so the device is `sim` for C++ in every mode.
    _setup_privateuseone_for_python_backend(INNER, module := make_module(INNER), hook=_Hooks(), device_guard=Guard())
    machine = Machine(mode, indices, spec or Spec())
    set_machine(machine)
    # After the machine is set, whose generators these are.
    vars(module)["default_generators"] = default_generators()
    operators.register()
    lose_in_children(machine)
    _replace_functions(machine, mode)
    return machine


def _replace_functions(machine: Machine, mode: Mode) -> None:
    # C++ cannot be taught another name for the device, nor to answer for one that does not exist. So functions of torch
    # are replaced.
    queries.hide_others(but=mode)
    queries.answer_accelerator(machine)
    autocast.answer_autocast(machine)
    if mode == "cuda":
        queries.answer_cuda()
        cuda_tools.answer_tools(machine)
        graphs.answer_graphs(machine)
        attention.answer_queries(machine)
    custom.replace_registration(machine)
    queries.replace_classes(machine)
    queries.replace_timer()
    arguments.replace_functions(machine)
    arguments.replace_methods(machine)
    nested.make_nested(machine)
    storages.replace_pinning()
    storages.replace_storages(machine)
    storages.replace_new_storages(machine)
    storages.replace_metadata()
    sparse.validate_inside()
    training.replace_backward(machine)
    training.check_gradients(machine)
    if mode != INNER:
        training.name_in_errors()
    tensor.replace_parameters()
    training.replace_modules()
    training.pad_the_padded()
    lazy.remember_places(machine)
    parallel.answer_communication()
    if mode == "cuda" and torch.distributed.is_available():
        importlib.import_module("grader.accelerator.collectives").answer_nccl(machine)
    refusals.refuse_export(machine)
    refusals.refuse_saving_scripts(machine)
    attention.replace_flex_attention()
    profiling.answer_profiler(machine)
    refusals.compile_nothing()
    queues.share_between_processes(machine)
    warned.tell_at_the_caller()
