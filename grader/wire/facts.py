"""What a worker says about a tensor besides its numbers. All of it is untrusted; checks read it through helpers.

A decoded tensor is detached: whether the worker's own requires a gradient is one of these facts. They are kept beside
the tensors, so that `torch.save` and `copy` take nothing of them along.

On the wire, tensors of an accelerator are ordinary memory, and where they lie is a fact. A worker whose student code
sees an accelerator, simulated or not, has `AcceleratorFunctions`, by which its encoder and decoder read and make them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch.utils.weak import WeakTensorKeyDictionary

from grader.wire.frames import expect

LONGEST = 100


@dataclass(frozen=True)
class TensorFacts:
    """The facts that a worker sent with a tensor.

    Attributes:
        requires_grad: True if it requires a gradient.
        is_leaf: True if it is a leaf of the graph.
        grad_fn: the name of the function that made it, or None.
        version: the number of in-place changes by student code.
        device: the device that it is on, such as "sim:1".
    """

    requires_grad: bool = False
    is_leaf: bool = True
    grad_fn: str | None = None
    version: int = 0
    device: str = "cpu"


_NONE = TensorFacts()

# A table for the whole process, as these are attributes of tensors: a tensor has the same facts wherever it is met. It
# holds no tensor alive.
_known: Any = WeakTensorKeyDictionary()


def are_any_recorded() -> bool:
    """Return whether facts of any tensor are recorded.

    If not, which is the usual case, no lookup is needed.
    """
    return bool(_known.data)


def facts_of(tensor: torch.Tensor) -> TensorFacts:
    """Return the facts that are recorded for a tensor, or else the facts that PyTorch has."""
    facts: TensorFacts | None = _known.get(tensor)
    if facts is not None:
        return facts
    name = type(tensor.grad_fn).__name__ if tensor.grad_fn is not None else None
    return TensorFacts(tensor.requires_grad, tensor.is_leaf, name, 0, str(tensor.device))


def device_of(tensor: torch.Tensor) -> str:
    """Return the device in the recorded facts of a tensor, such as "sim:1".

    It is "cpu" if no facts of the tensor are recorded.
    """
    facts: TensorFacts | None = _known.get(tensor)
    return "cpu" if facts is None else facts.device


def note_facts(tensor: torch.Tensor, facts: TensorFacts) -> None:
    """Record the facts of a tensor for as long as it lives.

    The recorded `version` is the sum of the new one and the one recorded before.
    """
    before: TensorFacts | None = _known.get(tensor)
    if before is not None and before.version:
        facts = replace(facts, version=facts.version + before.version)
    _known[tensor] = facts


def to_row(facts: TensorFacts) -> dict[str, Any]:
    """Return the facts that distinguish a tensor from a plain CPU tensor, as a dict for JSON.

    A CPU tensor that requires a gradient becomes `{"requires_grad": True}`.
    """
    return {name: value for name, value in asdict(facts).items() if value != getattr(_NONE, name)}


def from_row(row: Any) -> TensorFacts:
    """Return the facts in a row that `to_row` made in another process.

    The row is checked first.

    Raises:
        ProtocolError: the row is not a row of facts.
    """
    expect(type(row) is dict and row.keys() <= vars(_NONE).keys(), "invalid facts of a tensor")
    facts = TensorFacts(**row)
    expect(type(facts.requires_grad) is bool and type(facts.is_leaf) is bool, "invalid facts of a tensor")
    expect(type(facts.version) is int and 0 <= facts.version < 1 << 32, "invalid facts of a tensor")
    for text in (facts.device, "" if facts.grad_fn is None else facts.grad_fn):
        expect(type(text) is str and len(text) <= LONGEST, "invalid facts of a tensor")
    return facts


@dataclass(frozen=True)
class AcceleratorFunctions:
    """The functions that read and make tensors of a process's accelerator, of which it has at most one kind.

    Attributes:
        to_host: a function that returns a CPU tensor with the memory of such a tensor, and the device; None for others.
        to_device: a function that puts a CPU tensor on a device, over the same memory or memory that mirrors it.
        begin_request: a callback for the time before each request.
    """

    to_host: Callable[[torch.Tensor], tuple[torch.Tensor, str] | None]
    to_device: Callable[[torch.Tensor, str], torch.Tensor]
    begin_request: Callable[[], None] = lambda: None
