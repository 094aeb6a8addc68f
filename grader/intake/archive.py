"""A zip that somebody handed in → a folder to read it from. What it says of itself is a stranger's word."""

from __future__ import annotations

import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from grader.course.layout import Places
from grader.model import Exercise
from grader.model.errors import SubmissionError

ZIP = ".zip"

_MOST_ENTRIES = 5000
_MOST_FILES = 500
_LARGEST = 1 << 20
_MOST_BYTES = 16 << 20
_DEEPEST = 12
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)
"""What reading a broken, cut, encrypted or exotic zip raises."""


@contextmanager
def opened(path: Path, exercises: Sequence[Exercise]) -> Iterator[Path]:
    """The folder that a submission is read from, for as long as this lasts.

    A folder is itself, unless it has nothing but one zip, as platforms hand them on.

    Raises:
        SubmissionError: it is a zip that cannot be read.
    """
    archive = path if path.suffix.lower() == ZIP and not path.is_dir() else _only_zip(path, exercises)
    if archive is None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="grade-") as folder:
        try:
            _unpack(archive, Path(folder))
        except _UNREADABLE as error:
            raise SubmissionError(f"{archive.name} cannot be read as a zip: {error}") from None
        yield _inner(Path(folder), exercises)


def _only_zip(folder: Path, exercises: Sequence[Exercise]) -> Path | None:
    if not folder.is_dir() or _has_any(folder, exercises):
        return None
    zips = [path for path in folder.iterdir() if path.suffix.lower() == ZIP]
    return zips[0] if len(zips) == 1 and zips[0].is_file() and not zips[0].is_symlink() else None


def _inner(folder: Path, exercises: Sequence[Exercise]) -> Path:
    """The folder inside that has the files: a zip that was made by hand has often one folder around them all."""
    inner = folder
    for _ in range(_DEEPEST):
        if _has_any(inner, exercises):
            return inner
        inside = list(inner.iterdir())
        if len(inside) != 1 or not inside[0].is_dir():
            break
        inner = inside[0]
    return folder


def _has_any(folder: Path, exercises: Sequence[Exercise]) -> bool:
    places = (place for exercise in exercises for place in Places.of(exercise).as_handed_in(in_course=False))
    return any((folder / place).is_file() for place in places)


def _unpack(archive: Path, folder: Path) -> None:
    """Write the Python files of a zip: no links, nothing outside the folder, no more than a submission may have."""
    files, room = 0, _MOST_BYTES
    with zipfile.ZipFile(archive) as source:
        entries = source.infolist()
        if len(entries) > _MOST_ENTRIES:
            raise ValueError(f"it has more than {_MOST_ENTRIES} entries")
        for entry in entries:
            parts = _parts(entry)
            if parts is None:
                continue
            with source.open(entry) as packed:
                data = packed.read(_LARGEST + 1)  # its own word for its size is not asked
            files, room = files + 1, room - len(data)
            if len(data) > _LARGEST or room < 0 or files > _MOST_FILES:
                raise ValueError(f"it has a file of more than {_LARGEST >> 20} MiB, or too many")
            target = folder.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def _parts(entry: zipfile.ZipInfo) -> tuple[str, ...] | None:
    """The names on the way to a file that is unpacked; None for what is left out."""
    path = PurePosixPath(entry.filename.replace("\\", "/"))
    mode = entry.external_attr >> 16
    regular = not entry.is_dir() and (stat.S_IFMT(mode) in (0, stat.S_IFREG))
    inside = not path.is_absolute() and ".." not in path.parts and ":" not in entry.filename
    seen = not any(part.startswith((".", "__MACOSX")) for part in path.parts)
    wanted = path.suffix == ".py" and len(path.parts) <= _DEEPEST
    return path.parts if regular and inside and seen and wanted else None
