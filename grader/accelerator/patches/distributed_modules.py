"""Modules of `torch.distributed` that a program may import later: checkpoints, FSDP, and random numbers of DTensors."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

from grader.accelerator.core.pinned_memory import is_pinned
from grader.accelerator.core.tensor import SimTensor
from grader.accelerator.refusals import refusal
from grader.accelerator.replacing import put
from grader.accelerator.sim.counters import DEVICE_TO_HOST
from grader.accelerator.sim.generator import cpu_state_of, set_cpu_state
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Make checkpoints and random numbers of `torch.distributed` work on the simulated device.

    Three of its modules are patched, such as `torch.distributed.tensor._random`. To import them here would take long,
    so a module that is not imported yet is patched when the program imports it.
    """
    for name, patch in _PATCHES.items():
        if (module := sys.modules.get(name)) is not None:
            patch(machine, module)
        else:
            sys.meta_path.insert(0, _PatchOnImport(machine, name))


class _PatchOnImport:
    """An import finder that patches the module `name` when a program imports it."""

    def __init__(self, machine: Machine, name: str) -> None:
        self.machine = machine
        self.name = name

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the import spec of the module to patch; None for any other module.

        The loader of this spec also patches the module. This finder removes itself from `sys.meta_path`.
        """
        del path, target
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        loader: Any = None if spec is None else spec.loader
        if loader is not None:
            run = loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                _PATCHES[name](self.machine, module)

            loader.exec_module = exec_module
        return spec


def _patch_stager(machine: Machine, module: Any) -> None:
    """Make `StateDictStager` copy tensors of the device to the host.

    PyTorch uses this class to save a state dict while training goes on. The class copies every attribute of a tensor,
    and so would save those of a wrapper with the checkpoint.
    """
    stager: Any = module.StateDictStager
    original = stager._offload_tensor

    def offload(self: Any, x: Any, memo: Any, non_blocking: bool = False) -> Any:
        if not isinstance(x, SimTensor):
            return original(self, x, memo, non_blocking)
        made = original(self, x._inner, memo, non_blocking)
        memo[id(x)] = made
        nbytes = made.numel() * made.element_size()
        machine.record_use(x._place, "copy_", [x._block], [])
        if non_blocking and is_pinned(made):
            machine.races.record_copy_to(made)
            machine.races.on_arrivals()
        machine.transfer(DEVICE_TO_HOST, x._place.index, nbytes, pinned=non_blocking, host_waits=not non_blocking)
        return made

    put(stager, "_offload_tensor", offload)


def _patch_random_numbers(machine: Machine, module: Any) -> None:
    """Make the shards of a DTensor draw different random numbers, and replicas equal ones.

    PyTorch moves the offset in the state of CUDA's generator; the state of `SimGenerator` has no offset.
    """
    tracker: Any = module.OffsetBasedRNGTracker
    original = tracker._distribute_region

    @contextlib.contextmanager
    def distribute_region(self: Any, spec: Any, generator: Any = None) -> Iterator[None]:
        """Make random numbers in the context depend on the shard of this process.

        The device's generator draws them.
        """
        if not self.distribute_region_enabled or not machine.is_simulated(self._device):
            with original(self, spec, generator):
                yield
            return
        drawing = machine.devices[machine.current].generator if generator is None else generator
        number = 0
        for size, here, placement in zip(spec.mesh.shape, spec.mesh.get_coordinate(), spec.placements, strict=True):
            number = number * size + (here if placement.is_shard() else 0)
        # All processes of the mesh have the same state, draw one seed from it for all parts, and go on alike.
        common, own = torch._C.Generator(), torch._C.Generator()
        common.set_state(cpu_state_of(drawing))
        own.manual_seed(int(torch.randint(1 << 62, (1,), generator=common, device="cpu")) + number)
        set_cpu_state(drawing, own.get_state())
        try:
            yield
        finally:
            set_cpu_state(drawing, common.get_state())

    put(tracker, "_distribute_region", distribute_region)


def _refuse_offloading(machine: Machine, module: Any) -> None:
    """Refuse `CPUOffload(offload_params=True)` of `FullyShardedDataParallel`.

    It moves a parameter to the host within backward and reads its gradient, which stays on the device, afterwards. C++
    keeps the gradient with the tensor; here a parameter that changes its device becomes another tensor in C++.
    """
    handle: Any = module.FlatParamHandle
    original = handle.__init__
    signature = inspect.signature(original)

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(self, *args, **kwargs).arguments
        if given.get("offload_params") and machine.is_simulated(given["device"]):
            raise refusal(_NO_OFFLOADING)
        original(self, *args, **kwargs)

    put(handle, "__init__", init)


_NO_OFFLOADING = (
    "CPUOffload(offload_params=True) of FullyShardedDataParallel is not supported on the simulated device: use "
    "fully_shard with CPUOffloadPolicy, or do not offload."
)

_PATCHES: dict[str, Callable[[Machine, Any], None]] = {
    "torch.distributed.fsdp._flat_param": _refuse_offloading,
    "torch.distributed.checkpoint._state_dict_stager": _patch_stager,
    "torch.distributed.tensor._random": _patch_random_numbers,
}
