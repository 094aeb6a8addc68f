"""Files that are written whole or not at all, zips that are the same byte for byte, errors of the system as lines."""

from __future__ import annotations

import io
import os
import stat
import sys
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from grader.model.errors import CourseError

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in it: the first that a zip can tell."""

EPOCH_SECONDS = 315_532_800
"""The same time on a disk."""
DRAFT = ".part"
"""The end of the name of a file that is not written whole yet."""

ANOTHER_PLACE = "name another place"
"""What to do where nothing can be written."""

FILE_MODE = stat.S_IFREG | 0o644
_UNIX = 3


@contextmanager
def failing_as(what: str, remedy: str = "") -> Iterator[None]:
    """Report an error of the operating system in a line: what failed, in these words, why, and what to do.

    Raises:
        CourseError: there was such an error.
    """
    try:
        yield
    except OSError as error:
        line = f"{what} ({error.strerror})"
        raise CourseError(f"{line}; {remedy}" if remedy else line) from None


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file in one step, so that a reader finds the old text or the new.

    A device or a pipe, such as /dev/stdout, is written to and never replaced.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    # The draft lies in the same folder, because a rename is a single step only within one file system.
    draft = path.with_name(path.name + DRAFT)
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)  # on a full disk an incomplete draft helps nobody
        raise


def write_named(path: Path | str, content: str | bytes, what: str) -> None:
    """Write a file that the user named; its folder is made. `-` is standard output.

    Raises:
        CourseError: it cannot be written; the sentence begins with `what`, such as the option.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    if str(path) == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with failing_as(f"{what}: {path} cannot be written", ANOTHER_PLACE):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(Path(path), data)


def zip_bytes(files: Mapping[str, bytes], programs: Collection[str] = ()) -> bytes:
    """A zip of files by their paths: sorted names, one time, one mode, nothing about this machine.

    Args:
        files: what is in it.
        programs: those of them that can be started.
    """
    # Stored, not deflated: what comes out of that depends on the version of zlib. The files are small.
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, EPOCH)
            info.create_system = _UNIX
            info.external_attr = (FILE_MODE | 0o111 * (name in programs)) << 16
            archive.writestr(info, files[name])
    return target.getvalue()
