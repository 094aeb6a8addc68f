"""Errors of operators in backward: PyTorch's engine ends the process if one comes out of Python there.

While it unwinds, the engine goes back to a stream by asking Python, which cannot answer with an error under way. So the
error is kept, C++ finds an outcome that is none and raises an error of its own, and who called backward gets ours.
"""

from __future__ import annotations

from types import FrameType

import torch

NO_OUTCOME = object()
"""What an operator that failed gives to the engine."""

_ENGINE = torch.autograd.graph._engine_run_backward.__code__
_KEPT: list[BaseException] = []


def keep(error: BaseException, caller: FrameType) -> bool:
    """Whether an operator was called by the engine itself, not by Python code, and its error is kept."""
    if caller.f_code is not _ENGINE:
        return False
    _KEPT.append(error)
    return True


def take() -> BaseException | None:
    """The error that was kept."""
    return _KEPT.pop() if _KEPT else None
