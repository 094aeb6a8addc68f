"""What a worker claimed of tensors that are here now, beside them: a tensor that is saved takes none of it along."""

from __future__ import annotations

import torch
from torch.utils.weak import WeakIdKeyDictionary, WeakTensorKeyDictionary

from grader.wire.rows import Claims

_claimed: WeakIdKeyDictionary = WeakTensorKeyDictionary()


def note_claims(tensor: torch.Tensor, claims: Claims) -> None:
    """Keep what is claimed of a tensor, for as long as it lives."""
    _claimed[tensor] = claims


def own_version(tensor: torch.Tensor) -> int:
    """How often a tensor was written to in place in this process; one of inference mode is not counted."""
    if torch._C.TensorBase.is_inference(tensor):  # asked so, since a check's tensors answer from claims
        return 0
    return int(torch._C.TensorBase._version.__get__(tensor))  # type: ignore[attr-defined]


def claims_of(tensor: torch.Tensor) -> Claims | None:
    """What the worker claimed of a tensor that it returned, or None for a tensor of our own."""
    found = _claimed.get(tensor)
    return found if isinstance(found, Claims) else None
