"""How a check file declares its checks, and what they are given: random inputs, and an accelerator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest
import torch

from grader.model import CATEGORIES, Device
from grader.model.public import say
from grader.wire.facts import Facts, note_facts

Function = TypeVar("Function", bound=Callable[..., Any])


def check(
    contract: str = "",
    *,
    category: str = "correctness",
    share: int = 1,
    shown: bool | None = None,
    try_this: str = "",
    call_s: float | None = None,
    device: str = "none",
) -> Callable[[Function], Function]:
    """Declare a check. Its title is its docstring's first line.

    Args:
        contract: the contract line it examines, such as "C2".
        category: what it is about, one of `grader.model.CATEGORIES`.
        share: its share of the exercise's points.
        shown: whether students see its inputs; by default, whether it lies in the exercise's own folder.
        try_this: for a hidden check, a call that a student can try, which is not the hidden input.
        call_s: CPU seconds of one call, if not the exercise's own.
        device: "none"; "sim" for a simulated accelerator, or CUDA on request; "cuda" for CUDA only.

    Raises:
        ValueError: a category, share or device that does not exist.
    """
    # Found when the file is read, and so before any submission is.
    if category not in CATEGORIES:
        raise ValueError(f"unknown category {category!r}; choose one of {', '.join(CATEGORIES)}")
    if share < 0:
        raise ValueError("a share cannot be negative")
    if device not in list(Device):
        raise ValueError(f"unknown device {device!r}; choose one of {', '.join(Device)}")
    # A mark and not a wrapper, so that a check stays an ordinary pytest function, with its fixtures and parameters.
    more = {"try_this": try_this, "call_s": call_s, "device": Device(device)}
    return pytest.mark.graded(contract=contract, category=category, share=share, shown=shown, **more)


Item = TypeVar("Item")


class Rng(torch.Generator):
    """A generator for a check's inputs; goes wherever PyTorch takes `generator=`, too."""

    # -- plain values ---------------------------------------------------------------------------------------------

    def integer(self, low: int, high: int) -> int:
        """An int from `low` to `high`, both included."""
        return int(torch.randint(low, high + 1, (), generator=self))

    def integers(self, low: int, high: int, count: int) -> tuple[int, ...]:
        """A tuple of several of them."""
        return tuple(self.integer(low, high) for _ in range(count))

    def boolean(self) -> bool:
        """True or False."""
        return bool(self.integer(0, 1))

    def choice(self, items: Sequence[Item]) -> Item:
        """One of several."""
        return items[self.integer(0, len(items) - 1)]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """All of them, in another order."""
        return [items[place] for place in self.permutation(len(items)).tolist()]

    def sizes(self, count: int, low: int = 2, high: int = 7) -> tuple[int, ...]:
        """A tuple of sizes that all differ, so that swapped dims show.

        Raises:
            ValueError: there are not so many between `low` and `high`.
        """
        if high - low + 1 < count:
            raise ValueError(f"there are no {count} different sizes from {low} to {high}")
        return tuple((low + self.permutation(high - low + 1)[:count]).tolist())

    # -- tensors --------------------------------------------------------------------------------------------------

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """A tensor of normally distributed numbers, mean 0 and deviation 1."""
        return torch.randn(shape, generator=self, dtype=dtype)

    def uniform(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """A tensor of numbers from 0 to 1."""
        return torch.rand(shape, generator=self, dtype=dtype)

    def whole(self, low: int, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        """A tensor of whole numbers from `low` to `high`, both included."""
        return torch.randint(low, high + 1, shape, generator=self).to(dtype)

    def bools(self, *shape: int) -> torch.Tensor:
        """A tensor of True and False; with two elements or more it has both."""
        drawn = self.whole(0, 1, *shape).bool()
        if drawn.numel() > 1 and bool(drawn.all() | ~drawn.any()):
            flat = drawn.view(-1)
            flat[self.integer(0, drawn.numel() - 1)] ^= True
        return drawn

    def permutation(self, count: int) -> torch.Tensor:
        """A tensor with the numbers from 0 to `count` - 1, each once."""
        return torch.randperm(count, generator=self)


@dataclass(frozen=True)
class Accelerator:
    """What a check with `device="sim"` runs on: a simulated accelerator, or CUDA if the command selects it.

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
            pytest.skip(say("needs more {} devices than this machine has", self.type.value))
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
