"""Tensors of an accelerator. On the wire they are ordinary memory; where they lie is a claim.

A worker that has an accelerator, simulated or not, says here how its tensors are told and made. Anywhere else every
tensor is taken as it is.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

Look = Callable[[torch.Tensor], "tuple[torch.Tensor, str] | None"]
"""Gives the CPU tensor over an accelerator's tensor's memory, and its device; None for any other tensor."""

Place = Callable[[torch.Tensor, str], torch.Tensor]
"""Puts a CPU tensor on a device, over the same memory."""


def _as_it_is(tensor: torch.Tensor) -> None:
    del tensor


def _nothing() -> None:
    pass


# A process has at most one kind of accelerator. So these are of the process, and are not handed through every table and
# message.
_look: Look = _as_it_is
_place: Place | None = None
_arrived: Callable[[], None] = _nothing


def use(look: Look, place: Place, arrived: Callable[[], None] = _nothing) -> None:
    """Tell how tensors of the accelerator of this process are recognised and made.

    Args:
        look: recognises them.
        place: makes them.
        arrived: called when a message has written into CPU memory that stands for theirs.
    """
    global _look, _place, _arrived
    _look, _place, _arrived = look, place, arrived


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor over the memory: of an accelerator's the CPU tensor behind it, of any other itself."""
    seen = _look(tensor)
    return tensor if seen is None else seen[0]


def device_of(tensor: torch.Tensor) -> str | None:
    """The device of an accelerator's tensor, such as "sim:1"; None for any other tensor."""
    seen = _look(tensor)
    return None if seen is None else seen[1]


def placed(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """The tensor on the device that it is said to be on, if there is one here."""
    return tensor if _place is None or device == "cpu" else _place(tensor, device)


def arrived() -> None:
    """A message has written into CPU memory."""
    _arrived()
