"""A private folder for what is in a zip, gone afterwards; what a process that was killed left, the next one removes."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_PREFIX = "grade-class-"
_YOUNG_S = 60.0
"""A folder that was made just now may not be locked yet."""


@contextmanager
def private_folder() -> Iterator[Path]:
    """A new folder that only this user can read."""
    # By the machine's name, as a lock may hold on one machine alone.
    prefix = f"{_PREFIX}{socket.gethostname()}-"
    _remove_left(prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    held = _locked(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if held is not None:
            os.close(held)


def _remove_left(prefix: str) -> None:
    """Remove the folders that nobody holds any more. They have students' files in them."""
    if sys.platform == "win32":  # nothing tells there whose folder is still in use
        return
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):
            told = path.lstat()
            if told.st_uid != os.getuid() or time.time() - told.st_mtime < _YOUNG_S:
                continue
            if (held := _locked(path)) is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(held)


def _locked(folder: Path) -> int | None:
    """A descriptor that holds a folder for as long as this process lives; None where it is held, or cannot be."""
    if sys.platform == "win32":
        return None
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        return None
    return held
