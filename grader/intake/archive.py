"""A zip that somebody handed in → the files in it. What it says of itself is a stranger's word.

Nothing is unpacked to disk here but by `unpack`, for a download of a whole class.
"""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.model.errors import SubmissionError

DEEPEST = 12
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)
"""What reading a broken, cut, encrypted or exotic zip raises."""

_SMALL = 1 << 20
_LONGEST_PATH = 1000


@dataclass(frozen=True)
class Caps:
    """What may be in a zip, in all.

    Attributes:
        entries: of its table, also of what is not read.
        files: that are read.
        file_bytes: of one file.
        all_bytes: of all that is read.
        ratio: of a file's bytes to those in the zip, where it is no small file.
    """

    entries: int = 5000
    files: int = 500
    file_bytes: int = 1 << 20
    all_bytes: int = 16 << 20
    ratio: int = 200


CLASS = Caps(entries=500_000, files=200_000, file_bytes=256 << 20, all_bytes=16 << 30)
"""Of a download of a whole class."""


def files_in(
    source: Path | bytes, name: str, wanted: Callable[[PurePosixPath], int], caps: Caps
) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The files of a zip: no links, nothing that leads out of it, no more than the caps allow.

    Args:
        source: the zip, or where it lies.
        name: by which it is told.
        wanted: how many bytes a file of that path may have; 0 for one that is left out.
        caps: what it may have in all.

    Raises:
        SubmissionError: it cannot be read, or has more than that.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
            yield from _entries(archive, wanted, caps)
    except _UNREADABLE as error:
        raise SubmissionError(f"{name} cannot be read as a zip: {error}") from None


def _entries(
    archive: zipfile.ZipFile, wanted: Callable[[PurePosixPath], int], caps: Caps
) -> Iterator[tuple[PurePosixPath, bytes]]:
    files, room = 0, caps.all_bytes
    entries = archive.infolist()
    if len(entries) > caps.entries:
        raise ValueError(f"it has more than {caps.entries} entries")
    for entry in entries:
        path = _path(entry)
        most = min(caps.file_bytes, wanted(path)) if path is not None else 0
        if path is None or not most:
            continue
        with archive.open(entry) as packed:
            data = packed.read(most + 1)  # its own word for its size is not asked
        files, room = files + 1, room - len(data)
        if len(data) > most or room < 0 or files > caps.files:
            raise ValueError(f"it has a file of more than {most >> 20} MiB, or too many")
        if len(data) > _SMALL and len(data) > caps.ratio * max(1, entry.compress_size):
            raise ValueError(f"{path.name} is {caps.ratio} times as large as what is packed of it")
        yield path, data


def _path(entry: zipfile.ZipInfo) -> PurePosixPath | None:
    """The path of a file that may be read; None for what is left out."""
    path = PurePosixPath(entry.filename.replace("\\", "/"))
    mode = entry.external_attr >> 16
    regular = not entry.is_dir() and (stat.S_IFMT(mode) in (0, stat.S_IFREG))
    inside = not path.is_absolute() and ".." not in path.parts and entry.filename[1:2] != ":"
    deep = len(path.parts) > DEEPEST or len(entry.filename) > _LONGEST_PATH or any(is_junk(part) for part in path.parts)
    return path if regular and inside and not deep else None


def is_junk(name: str) -> bool:
    """Whether a file or folder is none that a person made."""
    return name.startswith((".", "__MACOSX", "__pycache__")) or name.lower() in ("thumbs.db", "desktop.ini")


def unpack(archive: Path, folder: Path) -> None:
    """Write the files of a download of a whole class into a folder.

    Raises:
        SubmissionError: it cannot be read, or there is no room for it.
    """
    try:
        for path, data in files_in(archive, archive.name, lambda path: CLASS.file_bytes, CLASS):
            target = folder.joinpath(*path.parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    except OSError as error:
        raise SubmissionError(f"{archive.name} cannot be unpacked into {folder}: {error.strerror}") from None
