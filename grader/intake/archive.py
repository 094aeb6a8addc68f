"""A zip or a tar that somebody handed in → the files in it. What it says of itself is a stranger's word.

Links, devices and paths that lead out of it are left out. Nothing is written to disk.
"""

from __future__ import annotations

import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.course.layout import ARCHIVES, ZIP
from grader.model.errors import SubmissionError

DEEPEST = 12
_UNREADABLE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError),
    *(RuntimeError, NotImplementedError, ValueError),
)
"""What reading a broken, cut or exotic archive raises."""

_LONGEST_PATH = 1000
_MOST_ENTRIES = 500_000
_MOST_UNPACKED = 1 << 30
"""Of a tar, which has to be unpacked from its beginning: so many bytes and no more."""

_LOCKED = "it is protected by a password; hand it in without one"


@dataclass(frozen=True)
class Entry:
    """A file in an archive.

    Attributes:
        path: in it.
        read: gives so many of its bytes at most; it is called before the next entry is taken.
        why: it cannot be read, in words; else "".
    """

    path: PurePosixPath
    read: Callable[[int], bytes]
    why: str = ""


def is_archive(name: str) -> bool:
    """Whether a file of that name can be opened here."""
    return bool(archive_suffix(name))


def archive_suffix(name: str) -> str:
    """How the name of an archive ends; "" for another file."""
    return next((end for end in ARCHIVES if name.lower().endswith(end)), "")


def is_junk(name: str) -> bool:
    """Whether a file or folder is none that a person made."""
    return name.startswith((".", "__MACOSX", "__pycache__")) or name.lower() in ("thumbs.db", "desktop.ini")


@contextmanager
def entries(source: Path | bytes, name: str) -> Iterator[Iterable[Entry]]:
    """The files in an archive: of a zip a list, of a tar one after another.

    Args:
        source: the archive, or where it lies.
        name: its file name.

    Raises:
        SubmissionError: it cannot be read, or there is too much in it.
    """
    kind = "zip" if name.lower().endswith(ZIP) else "tar"
    try:
        file = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
        with file, zipfile.ZipFile(file) if kind == "zip" else tarfile.open(fileobj=file, mode="r|*") as archive:
            # A tar as a stream: what lies behind a limit is never unpacked.
            yield list(_of_zip(archive)) if isinstance(archive, zipfile.ZipFile) else _of_tar(archive)
    except _UNREADABLE as error:
        raise SubmissionError(f"{name} cannot be read as a {kind}: {error}") from None


def _of_zip(archive: zipfile.ZipFile) -> Iterator[Entry]:
    infos = archive.infolist()
    if len(infos) > _MOST_ENTRIES:
        raise ValueError(f"it has more than {_MOST_ENTRIES} entries")
    for info in infos:
        regular = not info.is_dir() and stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
        path = _inside(info.filename)
        if path is None or not regular:
            continue

        def read(most: int, info: zipfile.ZipInfo = info) -> bytes:
            with archive.open(info) as packed:
                return packed.read(most)  # what it says of its size does not count

        yield Entry(path, _careful(read), _LOCKED if info.flag_bits & 1 else "")


def _of_tar(archive: tarfile.TarFile) -> Iterator[Entry]:
    for number, member in enumerate(archive):
        if number >= _MOST_ENTRIES or member.offset_data + member.size > _MOST_UNPACKED:
            raise ValueError(f"there is too much in it: more than {_MOST_UNPACKED >> 20} MiB, or too many files")
        path = _inside(member.name)
        if path is None or not member.isreg():
            continue

        def read(most: int, member: tarfile.TarInfo = member) -> bytes:
            packed = archive.extractfile(member)
            return packed.read(most) if packed else b""

        yield Entry(path, _careful(read))


def _careful(read: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """The same, where an entry that is damaged spoils no other."""

    def safely(most: int) -> bytes:
        try:
            return read(most)
        except _UNREADABLE as error:
            raise SubmissionError(f"it is damaged: {error}") from None

    return safely


def _inside(name: str) -> PurePosixPath | None:
    """The path of an entry; None for what leads out, for what no person made, and for what lies too deep."""
    path = PurePosixPath(name.replace("\\", "/"))
    leads_out = path.is_absolute() or ".." in path.parts or name[1:2] == ":"
    deep = len(path.parts) > DEEPEST or len(name) > _LONGEST_PATH
    return None if leads_out or deep or any(is_junk(part) for part in path.parts) else path
