"""Tensors of a simulated accelerator. On the wire they are ordinary memory; where they lie is a claim.

A worker in which an accelerator is simulated says here how its tensors are told and made. Anywhere else every tensor
is taken as it is.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

Look = Callable[[torch.Tensor], "tuple[torch.Tensor, str] | None"]
"""Gives the CPU tensor over a simulated tensor's memory, and its device; None for any other tensor."""

Place = Callable[[torch.Tensor, str], torch.Tensor]
"""Puts a CPU tensor on a device, over the same memory."""


def _as_it_is(tensor: torch.Tensor) -> None:
    del tensor


_look: Look = _as_it_is
_place: Place | None = None


def simulate(look: Look, place: Place) -> None:
    """Tell how tensors of the accelerator of this process are recognised and made."""
    global _look, _place
    _look, _place = look, place


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor over the memory: of a simulated one the CPU tensor behind it, of any other itself."""
    seen = _look(tensor)
    return tensor if seen is None else seen[0]


def simulated_device(tensor: torch.Tensor) -> str | None:
    """The device of a simulated tensor, such as "sim:1"; None for any other tensor."""
    seen = _look(tensor)
    return None if seen is None else seen[1]


def placed(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """The tensor on the device that it is said to be on, if that is simulated here."""
    return tensor if _place is None or device == "cpu" else _place(tensor, device)
