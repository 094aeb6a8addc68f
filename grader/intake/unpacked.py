"""A class's download, unpacked into a private folder, which is removed afterwards.

What a process that was killed left, the next one removes.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from grader.intake.archive import Entry, entries
from grader.intake.contents import most_bytes
from grader.intake.handed import METADATA, SUBMITTED, Unmatched
from grader.model.errors import SubmissionError

if sys.platform != "win32":
    import fcntl

_PREFIX = "grade-class-"
_YOUNG_S = 60.0
"""A folder that was made just now may not be locked yet."""

_FOR_ALL = {errno.ENOSPC, errno.EROFS, errno.EIO, errno.EMFILE, getattr(errno, "EDQUOT", errno.ENOSPC)}
"""What no other file would escape either."""

_MOST_METADATA = 256 << 20
_MOST_OF_ONE = 256 << 20


@contextmanager
def private_folder() -> Iterator[Path]:
    """A new folder that only this user can read."""
    # By the machine's name, as a lock may hold on one machine alone.
    prefix = f"{_PREFIX}{socket.gethostname()}-"
    _remove_left(prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    lock = _locked(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _remove_left(prefix: str) -> None:
    """Remove the folders that no process holds any more. They have students' files in them."""
    if sys.platform == "win32":  # nothing tells there whose folder is still in use
        return
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):
            status = path.lstat()
            if status.st_uid != os.getuid() or time.time() - status.st_mtime < _YOUNG_S:
                continue
            if (lock := _locked(path)) is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)


def _locked(folder: Path) -> int | None:
    """A descriptor that holds a folder for as long as this process lives; None if another process holds it."""
    if sys.platform == "win32":
        return None
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def unpack(archive: Path, folder: Path) -> list[Unmatched]:
    """Write the files of a class's download into a folder; give those that could not be read.

    One author's files spoil no other's: of what is not read anyway an empty file is written, and of a file that is
    too large so much that whoever reads it sees that.

    Raises:
        SubmissionError: it cannot be read, or there is no room for it.
    """
    with entries(archive, archive.name) as found:
        return list(_unpacked(list(found), archive.name, folder))


def _unpacked(found: Sequence[Entry], name: str, folder: Path) -> Iterator[Unmatched]:
    shared = _shared_folders([entry.path for entry in found])
    written = Counter[str]()
    for entry in found:
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
