"""The line of the program at which it called PyTorch or this package."""

from __future__ import annotations

import linecache
import os
import sys
from pathlib import Path
from types import CodeType, FrameType

import torch

Site = tuple[CodeType, int]
"""A place in a function's code; which line that is, is looked up when it is shown."""

PACKAGE = str(Path(__file__).parents[1]) + os.sep
"""The folder of this package."""

_INNER = (PACKAGE, str(Path(torch.__file__).parent) + os.sep)
_MOST = 50

_inner_files: set[str] = set()
"""Files of PyTorch and of this package. Code objects would be slow: Python hashes all their constants and names."""


def frame_of_program(skip: int = 1) -> FrameType:
    """Return the innermost frame of the program.

    The file of this frame is neither in PyTorch nor in this package.

    Args:
        skip: the number of innermost frames to skip; with 1 the search begins at the caller.
    """
    frame = sys._getframe(skip)
    while True:
        file = frame.f_code.co_filename
        if file not in _inner_files:
            if not file.startswith(_INNER):
                return frame
            _inner_files.add(file)
        outer = frame.f_back
        if outer is None:
            return frame
        frame = outer


def site_text(site: Site) -> str:
    """Return the file and the line of a site as text, such as "train.py:12, `y = x + 1`".

    The source of the line is added if the file can be read.
    """
    code, last = site
    number = next((line for start, end, line in code.co_lines() if start <= last < end and line), code.co_firstlineno)
    text = linecache.getline(code.co_filename, number).strip()
    name = f"{os.path.basename(code.co_filename)}:{number}"
    return f"{name}, `{text if len(text) <= _MOST else text[: _MOST - 3] + '...'}`" if text else name
