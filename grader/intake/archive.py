"""A zip or a tar that somebody handed in → the files in it. Nothing that it says of itself is trusted.

Links, devices and paths that lead out of it are left out. A whole class's is written to disk, an author's is not.
"""

from __future__ import annotations

import errno
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from grader.course.layout import ARCHIVES, NOTEBOOK, PYTHON, ZIP
from grader.intake.handed import METADATA, SUBMITTED, Unmatched
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

_PYTHON_BYTES = 1 << 20
_NOTEBOOK_BYTES = 8 << 20  # with the pictures in it
_ARCHIVE_BYTES = 32 << 20
_FOR_ALL = {errno.ENOSPC, errno.EROFS, errno.EIO, errno.EMFILE, getattr(errno, "EDQUOT", errno.ENOSPC)}
"""What no other file would escape either."""

_MOST_METADATA = 256 << 20
_MOST_OF_ONE = 256 << 20

_LOCKED = "it is protected by a password; hand it in without one"


@dataclass(frozen=True)
class Entry:
    """A file in an archive or a folder.

    Attributes:
        path: inside of it.
        read: gives so many of its bytes at most; it is called before the next entry is taken.
        why: it cannot be read, in words; else "".
        file: where it lies, if it is a file on this disk.
    """

    path: PurePosixPath
    read: Callable[[int], bytes]
    why: str = ""
    file: Path | None = None


def is_archive(name: str) -> bool:
    """Whether a file of that name can be opened here."""
    return bool(archive_suffix(name))


def archive_suffix(name: str) -> str:
    """How the name of an archive ends; "" for another file."""
    return next((end for end in ARCHIVES if name.lower().endswith(end)), "")


def is_junk(name: str) -> bool:
    """Whether no person made a file or folder."""
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
        yield Entry(path, _start_of(partial(archive.open, info)), _LOCKED if info.flag_bits & 1 else "")


def _of_tar(archive: tarfile.TarFile) -> Iterator[Entry]:
    for number, member in enumerate(archive):
        if number >= _MOST_ENTRIES or member.offset_data + member.size > _MOST_UNPACKED:
            raise ValueError(f"there is too much in it: more than {_MOST_UNPACKED >> 20} MiB, or too many files")
        path = _inside(member.name)
        if path is None or not member.isreg():
            continue
        yield Entry(path, _start_of(partial(archive.extractfile, member)))


def _start_of(opened: Callable[[], IO[bytes] | None]) -> Callable[[int], bytes]:
    """Reads so many bytes of an entry; what it says of its size does not count, and damage spoils no other entry."""

    def read(most: int) -> bytes:
        try:
            with opened() or io.BytesIO() as packed:
                return packed.read(most)
        except _UNREADABLE as error:
            raise SubmissionError(f"it is damaged: {error}") from None

    return read


def _inside(name: str) -> PurePosixPath | None:
    """The path of an entry; None for what leads out, for what no person made, and for what lies too deep."""
    path = PurePosixPath(name.replace("\\", "/"))
    leads_out = path.is_absolute() or ".." in path.parts or name[1:2] == ":"
    deep = len(path.parts) > DEEPEST or len(name) > _LONGEST_PATH
    return None if leads_out or deep or any(is_junk(part) for part in path.parts) else path


def most_bytes(path: PurePosixPath) -> int:
    """How many bytes a file may have; 0 for one that is not read."""
    name = path.name.lower()
    if name.endswith(PYTHON):
        return _PYTHON_BYTES
    if is_archive(name):
        return _ARCHIVE_BYTES
    return _NOTEBOOK_BYTES if name.endswith(NOTEBOOK) else 0


def unpack(archive: Path, folder: Path) -> list[Unmatched]:
    """Write the files of a class's download into a folder; give those that could not be read.

    One author's files spoil no other's: of what is not read anyway an empty file is written, and of a file that is
    too large so much that whoever reads it sees that.

    Raises:
        SubmissionError: it cannot be read, or there is no room for it.
    """
    with entries(archive, archive.name) as inner:
        return list(_unpacked(list(inner), archive.name, folder))


def _unpacked(inner: Sequence[Entry], name: str, folder: Path) -> Iterator[Unmatched]:
    shared = _shared_folders([entry.path for entry in inner])
    written = Counter[str]()
    for entry in inner:
        whose = "/".join(entry.path.parts[: shared + 1])
        most = _MOST_METADATA if entry.path.name in METADATA else most_bytes(entry.path)
        data = b""
        if most and written[whose] > _MOST_OF_ONE:
            yield Unmatched(
                str(entry.path), "", f"it is not read: {_MOST_OF_ONE >> 20} MiB of {whose} are read already"
            )
        elif most:
            try:
                data = entry.read(most + 1)
            except SubmissionError as error:
                yield Unmatched(str(entry.path), "", entry.why or str(error))
        written[whose] += len(data)
        target = folder.joinpath(*entry.path.parts)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        except OSError as error:
            if error.errno in _FOR_ALL:
                raise SubmissionError(f"{name} cannot be unpacked into {folder}: {error.strerror}") from None
            yield Unmatched(str(entry.path), "", f"it cannot be unpacked: {error.strerror}")


def _shared_folders(paths: list[PurePosixPath]) -> int:
    """How many folders lie around the authors' files."""
    folders = [path.parts[:-1] for path in paths]
    shared = 0
    while folders and len({own[: shared + 1] for own in folders}) == 1 and len(folders[0]) > shared:
        shared += 1
    return shared + any(own[shared : shared + 1] == (SUBMITTED,) for own in folders)
