"""What a check asks a tensor itself, and only the worker knows: answered from its claims, or refused in words.

A tensor from a worker is made again here, over the same numbers. That it was made in inference mode, how often it was
written to in place, and which tensor it is a view of did not come with them.
"""

from __future__ import annotations

from typing import Any

import torch

from grader.wire.bounds import Unsupported
from grader.wire.claimed import claims_of, own_version

_OWN_BASE: Any = torch._C.TensorBase._base


def answer_by_claims() -> None:
    """From now on, let tensors of this process answer so."""
    kind: Any = torch.Tensor
    kind.is_inference = _is_inference
    kind._version = property(_version)
    kind._base = property(_base)
    kind._is_view = _is_view
    torch.is_inference = _is_inference


def _is_inference(input: torch.Tensor) -> bool:
    claims = claims_of(input)
    return bool(torch._C.TensorBase.is_inference(input)) if claims is None else claims.is_inference


def _version(tensor: torch.Tensor) -> int:
    claims = claims_of(tensor)
    return own_version(tensor) + (0 if claims is None else claims.version)


def _base(tensor: torch.Tensor) -> torch.Tensor | None:
    base: torch.Tensor | None = _OWN_BASE.__get__(tensor)
    if base is None:
        _refuse_views(tensor, "_base")
    return base


def _is_view(tensor: torch.Tensor) -> bool:
    if not torch._C.TensorBase._is_view(tensor):
        _refuse_views(tensor, "_is_view()")
        return False
    return True


def _refuse_views(tensor: torch.Tensor, what: str) -> None:
    """Refuse to say no of a tensor that a worker has told of.

    Raises:
        Unsupported: it is one.
    """
    if claims_of(tensor) is not None:
        raise Unsupported(
            f"`{what}` of a tensor that student code gave is not known to a check: ask  is_view_of(y, x) , "
            "shares_nothing(y, x)  or  shares_memory(y, x)"
        )
