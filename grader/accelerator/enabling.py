"""Turn the simulated accelerator on, once in a process: every module that replaces something of PyTorch's, in order.

The file is not called `enable`: to import a module of this name would replace the function `accelerator.enable`.
"""

from __future__ import annotations

import importlib
import types
from typing import Literal

import torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from grader.accelerator.core.backward_errors import DeviceGuard
from grader.accelerator.cuda.device_module import default_generators, make_module
from grader.accelerator.dispatch import run
from grader.accelerator.patches import (
    attention_queries,
    autocast,
    backward,
    benchmark_timer,
    compiler,
    control_flow,
    cudnn_recurrent,
    data_parallel,
    default_tensor_type,
    device_names,
    distributed_modules,
    dlpack,
    driver_calls,
    error_names,
    export,
    factories,
    fake_tensors,
    fft_plans,
    flex_attention,
    generators_and_streams,
    graphs,
    host_reads,
    lazy_modules,
    legacy_types,
    memory_fraction,
    modules,
    nccl,
    nested,
    operator_registration,
    other_accelerators,
    parameters,
    pinned_memory,
    preferred_libraries,
    process_queues,
    profiler,
    recorded_graphs,
    recurrent_weights,
    sanitizer,
    serialization,
    sparse,
    storages,
    sync_debug,
    tensor_methods,
    torch_accelerator,
    torch_cuda,
    torchscript,
    transformer_encoder,
    tunable,
    unused_parameters,
    versions,
    warning_lines,
)
from grader.accelerator.sim.fork import invalidate_in_forked_children
from grader.accelerator.sim.machine import INNER, Machine, machine_or_none, set_machine
from grader.accelerator.sim.spec import Spec

Mode = Literal["sim", "cuda", "none"]

PATCHES_FOR_CUDA: tuple[types.ModuleType, ...] = (
    driver_calls,
    torch_cuda,
    legacy_types,
    device_names,
    versions,
    default_tensor_type,
    memory_fraction,
    sync_debug,
    sanitizer,
    graphs,
    attention_queries,
    fft_plans,
    preferred_libraries,
    tunable,
    operator_registration,
    error_names,
    fake_tensors,
    cudnn_recurrent,
    recurrent_weights,
    recorded_graphs,
    nccl,
)
"""What is replaced where the device calls itself cuda. The first two refuse what the others then answer."""

PATCHES: tuple[types.ModuleType, ...] = (
    other_accelerators,
    torch_accelerator,
    autocast,
    generators_and_streams,
    benchmark_timer,
    distributed_modules,
    factories,
    tensor_methods,
    nested,
    pinned_memory,
    host_reads,
    dlpack,
    storages,
    serialization,
    sparse,
    backward,
    parameters,
    modules,
    transformer_encoder,
    lazy_modules,
    data_parallel,
    unused_parameters,
    export,
    torchscript,
    control_flow,
    flex_attention,
    profiler,
    compiler,
    process_queues,
    warning_lines,
)
"""What is replaced in every mode. The last one looks at all modules of this package that are loaded."""


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
    """Import what `enable` needs, so that processes forked later need not.

    PyTorch itself is not changed.
    """
    import torch.accelerator.memory
    import torch.cuda._sanitizer
    import torch.cuda.comm
    import torch.utils.benchmark

    # All three are made at first use and kept; made here, every forked child has them.
    torch.jit._builtins._get_builtin_table()
    torch.utils._device._device_constructors()
    warning_lines.own_namespaces()


def preload_operations() -> None:
    """Do what the first operation on the device needs, so that forked processes need not.

    The device's kernels are registered. They have no effect before `enable`, as no program can name the device until
    then. PyTorch imports 500 modules at the first operation, to know whether a tensor of a subclass is a DTensor. They
    are imported here, as this takes half a second.
    """
    if torch.distributed.is_available():
        importlib.import_module("torch.distributed.tensor")
    run.register()


def enable(mode: Mode = "sim", *, indices: int = 2, spec: Spec | None = None) -> Machine | None:
    """Simulate an accelerator in this process, until the process ends.

    Args:
        mode: "sim" for a device of that name; "cuda" for one that calls itself cuda and answers for `torch.cuda`;
            "none" for no accelerator at all, even if the machine has one.
        indices: the number of devices.
        spec: the speed and the memory of each device; None for those of `Spec()`.

    Returns:
        The machine, with the virtual clock and the counts; None in mode "none".

    Raises:
        RuntimeError: an accelerator is simulated in this process already, perhaps by another copy of this package.
        ValueError: an unknown mode, or fewer than one index.
    """
    # No machine: a device that is not there has nothing to count.
    if mode == "none":
        other_accelerators.hide_others()
        return None
    if mode not in ("sim", "cuda"):
        raise ValueError(f'mode is "sim", "cuda" or "none", not {mode!r}')
    if not 1 <= indices <= 16:
        raise ValueError(f"indices is from 1 to 16, not {indices}")
    if machine_or_none() is not None:
        raise RuntimeError("the simulated accelerator is on already; a process has one, and for good")
    if hasattr(torch, INNER):
        raise RuntimeError(
            "CUDA is simulated in this process already: by tensorgrade for simulated-cuda, or the other way round; "
            "start the process with one of the two"
        )
    # PrivateUse1 is the place that PyTorch keeps for devices that it does not know. It can be renamed once, and CUDA's
    # name is taken, so the device is `sim` for C++ in every mode.
    _setup_privateuseone_for_python_backend(
        INNER, module := make_module(INNER), hook=_Hooks(), device_guard=DeviceGuard()
    )
    machine = Machine(mode, indices, spec or Spec())
    set_machine(machine)
    # After the machine is set, whose generators these are.
    vars(module)["default_generators"] = default_generators()
    run.register()
    invalidate_in_forked_children(machine)
    # C++ cannot be taught another name for the device, nor to answer for one that does not exist. So functions and
    # classes of PyTorch are replaced.
    for patch in (*(PATCHES_FOR_CUDA if mode == "cuda" else ()), *PATCHES):
        patch.install(machine)
    # Modules that the patches import may have asked, as `torch.utils.cpp_extension` does; the program has not.
    machine.reached_driver = False
    return machine
