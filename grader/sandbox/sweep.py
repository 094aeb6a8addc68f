"""Removing a folder that student code has filled: as deep as it likes, with rights as odd as it likes."""

from __future__ import annotations

import contextlib
import os
import stat
import uuid


def sweep(folder: str) -> None:
    """Remove a folder and all that is in it, as far as this user may.

    What lies deep is brought up first: no path here gets longer than two names, and nothing recurses. Links are removed
    and never followed. The folder must not change meanwhile.
    """
    left: set[str] = set()
    while True:
        entries = _entries(folder)
        for entry in entries:
            if _is_folder(entry):
                _flatten(entry.path, folder)
            else:
                _unlink(entry.path)
        now = {entry.name for entry in _entries(folder)}
        if not now or now == left:  # nothing left, or nothing that this user can remove
            break
        left = now
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def _flatten(inner: str, folder: str) -> None:
    """Remove a folder, after its own folders were moved up."""
    for entry in _entries(inner):
        if _is_folder(entry):
            with contextlib.suppress(OSError):
                os.rename(entry.path, os.path.join(folder, uuid.uuid4().hex))
        else:
            _unlink(entry.path)
    with contextlib.suppress(OSError):
        os.rmdir(inner)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with contextlib.suppress(OSError):
        os.chmod(folder, stat.S_IRWXU)
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
