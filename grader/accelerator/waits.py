"""Waits that a program did not ask for in so many words: told, or forbidden, as `set_sync_debug_mode` says."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import torch

_TEXT = "called a synchronizing CUDA operation"
_INNER = tuple(str(Path(file).parent) for file in (__file__, torch.__file__))


def tell_of_wait(mode: int) -> None:
    """Warn of a wait at the line of the program that makes it (1), or raise (2)."""
    if mode > 1:
        raise RuntimeError(_TEXT)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INNER):
        frame = frame.f_back
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(_TEXT, UserWarning, frame.f_code.co_filename, frame.f_lineno, registry=registry)
