"""The worker's side of a folder that a check hands over: files are written before a call, and read after it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

FOLDER = "tmp_path"
"""Beside the submission's files. It is this worker's own: what lies there is told to nobody but the check."""


class Files:
    """The files that a check hands over.

    Args:
        folder: the worker's.
    """

    def __init__(self, folder: str) -> None:
        self._top = Path(folder, FOLDER)

    def path(self, name: str) -> Path:
        """Where a path of the check's lies here."""
        return self._top / name

    def put_files(self, files: Mapping[str, bytes], folders: Sequence[str], names: Sequence[str], empty: bool) -> None:
        """Write files and make folders; what else lies at the paths that are handed over goes.

        Args:
            files: contents by relative name.
            folders: relative names.
            names: the paths that are handed over.
            empty: whether nothing else is to stay, either.
        """
        top = self._top
        if empty:
            _remove(top)
        top.mkdir(exist_ok=True)
        for name in names:
            path = top / name
            _remove(path)
            path.parent.mkdir(parents=True, exist_ok=True)
        for name in (".", *folders):
            (top / name).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_bytes(data)

    def take_files(self, names: Sequence[str], most: int, most_bytes: int) -> list[object] | None:
        """The plain files and the folders at these paths; None for too many. Links and pipes are passed over.

        Args:
            names: the paths.
            most: how many files and folders there may be.
            most_bytes: of all files.
        """
        top = self._top
        files: dict[str, bytes] = {}
        folders: list[str] = []
        for name in names:
            for path in _below(top / name):
                inner = path.relative_to(top).as_posix()
                if stat.S_ISDIR(path.lstat().st_mode):
                    folders.append(inner)
                elif (data := _content(path, most_bytes)) is not None:
                    files[inner] = data
                    most_bytes -= len(data)
                if most_bytes < 0 or len(files) + len(folders) > most:
                    return None
        return [files, folders]


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        path.unlink()


def _below(path: Path) -> Iterator[Path]:
    if not os.path.lexists(path):
        return
    yield path
    if stat.S_ISDIR(path.lstat().st_mode):
        for at, folders, names in os.walk(path):
            yield from (Path(at, name) for name in sorted((*folders, *names)))


def _content(path: Path, most: int) -> bytes | None:
    """What a plain file holds, and a byte more than is allowed of a larger one; None of anything else."""
    # Looked at once it is open, and never waited for: the path may be another thing by then.
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        return file.read(most + 1)
