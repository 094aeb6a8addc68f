"""Warnings that point at lines of this package are shown at the program's line that called into it."""

from __future__ import annotations

import functools
import sys
import warnings
from types import FrameType
from typing import Any

from grader.accelerator.sim.machine import Machine
from grader.accelerator.sim.program_lines import PACKAGE

_NAME = __package__.rpartition(".")[0]


@functools.cache
def own_namespaces() -> list[dict[str, Any]]:
    """Return the namespace (`__dict__`) of each imported module of `grader.accelerator`.

    `install` sets `__warningregistry__` in each. The result of the first call is cached, and lacks modules that are
    imported later. A search in a forked process would copy memory that the process shares with its parent.
    """
    return [vars(module) for name, module in list(sys.modules.items()) if name.startswith(f"{_NAME}.")]


def install(machine: Machine) -> None:
    """Show warnings at lines of the program instead of lines of this package.

    PyTorch's C++ code warns at the innermost line of Python. Without this a program would be warned once, for all its
    lines, and be shown a line of ours.
    """
    del machine
    # Without a registry Python does not look whether the line was warned of already: it comes here each time, and this
    # looks into the caller's registry.
    for names in own_namespaces():
        names["__warningregistry__"] = None
    # This is what Python shows a warning with, whoever catches it: `catch_warnings` replaces other functions.
    shown: Any = warnings
    original = shown._showwarnmsg

    def show(message_shown: warnings.WarningMessage) -> None:
        """Show a warning; if it points at this package, show it at a line of the program.

        That line is the one that led to the warning.
        """
        frame = (
            _calling_frame(sys._getframe(1), message_shown.filename)
            if message_shown.filename.startswith(PACKAGE)
            else None
        )
        if frame is None:
            original(message_shown)
            return
        warnings.warn_explicit(
            message_shown.message,
            message_shown.category,
            frame.f_code.co_filename,
            frame.f_lineno,
            frame.f_globals.get("__name__"),
            frame.f_globals.setdefault("__warningregistry__", {}),
            source=message_shown.source,
        )

    shown._showwarnmsg = show


def _calling_frame(frame: FrameType | None, filename: str) -> FrameType | None:
    """Return the frame of the program that led to a warning; None if no such frame is found.

    The search goes from `frame` to its callers. It begins at the first frame of the file `filename`, at which the
    warning points, and skips the frames of this package.
    """
    while frame is not None and frame.f_code.co_filename != filename:
        frame = frame.f_back
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame
