"""The accelerator that a check's worker sees, by the names that hold here and there."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from grader.model import Device
from grader.model.public import say
from grader.wire.facts import Facts, note_facts


@dataclass(frozen=True)
class Accelerator:
    """What a check with `device="sim"` runs on: a simulated accelerator, or CUDA where that was asked for.

    Attributes:
        type: the type of its devices, which is a str such as "sim".
        count: how many there are.
    """

    type: Device = Device.SIM
    count: int = 2

    def device(self, index: int | None = None) -> str:
        """The name of one of its devices, such as "sim:1"; without an index just the type.

        The check is not run on a machine that has too few.
        """
        if index is None:
            return self.type.value
        if index >= self.count:
            pytest.skip(say("needs more devices of the type {} than there are here", self.type.value))
        return f"{self.type}:{index}"

    def put(self, tensor: torch.Tensor, index: int = 0) -> torch.Tensor:
        """The same numbers as a tensor that the worker finds on one of the devices.

        Here it is an ordinary tensor whose facts name that device.

        Args:
            tensor: any tensor; it is copied.
            index: of the device.
        """
        copy = tensor.detach().clone()
        # This process has no such device. The worker puts the tensor where its facts say.
        note_facts(copy, Facts(device=self.device(index)))
        return copy
