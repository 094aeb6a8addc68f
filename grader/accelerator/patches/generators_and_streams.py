"""`torch.Generator`, `torch.Event` and `torch.Stream`."""

from __future__ import annotations

from typing import Any

import torch

from grader.accelerator.cuda import streams
from grader.accelerator.replacing import put
from grader.accelerator.sim.generator import SimGenerator, generator_type
from grader.accelerator.sim.machine import Machine


def install(machine: Machine) -> None:
    """Let programs make a `torch.Generator`, `torch.Event` or `torch.Stream` for the device.

    The classes are replaced by ones that use the device's seeds and the virtual clock. Unless the device is called
    cuda, `torch.backends.cudnn.is_acceptable` returns False, so that layers like `nn.LSTM` do not lay out their weights
    for cuDNN.
    """

    def make(device: Any) -> SimGenerator | None:
        if not isinstance(device, int) and not machine.is_simulated(device):
            return None
        public = machine.devices[machine.index_of(device)].public
        # A generator has an index only where one was given.
        named = isinstance(device, int) or torch.device(device).index is not None
        return SimGenerator(public if named else torch.device(machine.kind))

    if machine.kind != "cuda":
        # Layers like `nn.LSTM` ask this before they lay out their weights for cuDNN, which is not there.
        put(torch.backends.cudnn, "is_acceptable", lambda tensor: False)
    # These are types of C++'s, which know nothing of our seeds and of the virtual clock: stand-ins take their names.
    # `torch.Generator` still gives one of PyTorch's own for any other device.
    put(torch, "Generator", generator_type(make))
    put(torch, "Event", streams.AnyEvent)
    put(torch, "Stream", streams.Stream)
