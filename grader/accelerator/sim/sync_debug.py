"""Waits that a program did not call for explicitly: reported or refused, as `set_sync_debug_mode` was set."""

from __future__ import annotations

import warnings

from grader.accelerator.sim.program_lines import frame_of_program

_TEXT = "called a synchronizing CUDA operation"


def report_wait(mode: int) -> None:
    """Report a wait of the host, as the mode of `set_sync_debug_mode` says.

    Args:
        mode: 1 for a warning at the program's current line; 2 for a `RuntimeError`.
    """
    if mode > 1:
        raise RuntimeError(_TEXT)
    warn_at_program_line(_TEXT)


def warn_at_program_line(text: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that names the program's current line.

    A line of PyTorch or of this package is never named.
    """
    frame = frame_of_program()
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(text, category, frame.f_code.co_filename, frame.f_lineno, registry=registry)
