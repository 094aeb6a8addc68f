"""What was handed in, and its files: those in folders, in a zip or a tar, and in archives within archives alike.

Nothing that an archive says of itself is trusted: links, devices and paths that lead out of it are left out. A whole
class's download is written to disk; what one author handed in is read into memory. There a limit costs the file that
exceeds it and no other one, and what looks like an answer is read first.
"""

from __future__ import annotations

import errno
import io
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from grader.course.layout import ARCHIVES, COURSE_FILE, NOTEBOOK, PYTHON, ZIP, solutions_in
from grader.intake.match import cannot_be_text
from grader.model.errors import SubmissionError
from grader.model.score import counted

LATE = "handed in late, as Canvas says"
"""The note of what Canvas marks as late; it does not say how late."""

METADATA = ("submission_metadata.yml", "submission_metadata.yaml")
"""The file of Gradescope's export that says whose each submission is."""

NOTE_KINDS = {"handed in late": "late", "taken from": "taken from", "several versions": "several versions"}
"""Kinds of notes on files, by what such a note begins with."""

ALL_OF_IT = PurePosixPath()
"""The name of a folder that is all that somebody handed in."""

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

_BYTES = {**dict.fromkeys(PYTHON, 1 << 20), NOTEBOOK: 8 << 20, **dict.fromkeys(ARCHIVES, 32 << 20)}
"""How large files may be, by the ends of their names; a notebook has pictures in it. No other file is read."""

_FOR_ALL = {errno.ENOSPC, errno.EROFS, errno.EIO, errno.EMFILE, getattr(errno, "EDQUOT", errno.ENOSPC)}
"""What no other file would escape either."""

_MOST_METADATA = 256 << 20

_LOCKED = "it is protected by a password; hand it in without one"


@dataclass(frozen=True)
class Part:
    """A file or folder on disk that belongs to what somebody handed in.

    Attributes:
        path: where it lies.
        name: what its author called it; `ALL_OF_IT` for a folder that is that.
    """

    path: Path
    name: PurePosixPath = ALL_OF_IT


@dataclass(frozen=True)
class Handed:
    """One thing that was handed in.

    Attributes:
        key: the name of its report, and of its author, or of its group: a number, where the platform gives one.
        authors: whose it is: a row of the gradebook each.
        parts: its files and folders.
        at: when it was handed in, in ISO 8601, as the platform says; "" if it does not.
        late: whether the platform says that it was late.
        name: of the person or the group, where `key` is a number; or "".
        returned: what the name of a file begins with that the platform's bulk upload gives back to them; or "".
    """

    key: str
    authors: tuple[str, ...]
    parts: tuple[Part, ...]
    at: str = ""
    late: bool = False
    name: str = ""
    returned: str = ""


@dataclass(frozen=True)
class Unmatched:
    """Something that belongs to no exercise or to no author.

    Attributes:
        file: its path, from the folder of submissions, or from its author's where that is known; "" for all of it.
        author: whose it is, or "" if that is unknown.
        why: in words.
    """

    file: str
    author: str
    why: str


@dataclass(frozen=True)
class Entry:
    """A file in an archive or a folder.

    Attributes:
        path: inside of it.
        opened: opens it; of an archive only before the next entry is taken.
        why: it cannot be read, in words; else "".
        file: where it lies, if it is a file on this disk.
    """

    path: PurePosixPath
    opened: Callable[[], IO[bytes] | None]
    why: str = ""
    file: Path | None = None

    def read(self, most: int) -> bytes:
        """So many of its bytes at most; what an archive says of its size does not count.

        Raises:
            SubmissionError: it cannot be read. That spoils no other entry.
        """
        try:
            with self.opened() or io.BytesIO() as file:
                return file.read(most)
        except _UNREADABLE as error:
            raise SubmissionError(getattr(error, "strerror", None) or f"it is damaged: {error}") from None


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
        yield Entry(path, partial(archive.open, info), _LOCKED if info.flag_bits & 1 else "")


def _of_tar(archive: tarfile.TarFile) -> Iterator[Entry]:
    for number, member in enumerate(archive):
        if number >= _MOST_ENTRIES or member.offset_data + member.size > _MOST_UNPACKED:
            raise ValueError(f"there is too much in it: more than {_MOST_UNPACKED >> 20} MiB, or too many files")
        path = _inside(member.name)
        if path is None or not member.isreg():
            continue
        yield Entry(path, partial(archive.extractfile, member))


def _inside(name: str) -> PurePosixPath | None:
    """The path of an entry; None for what leads out, for what no person made, and for what lies too deep."""
    path = PurePosixPath(name.replace("\\", "/"))
    leads_out = path.is_absolute() or ".." in path.parts or name[1:2] == ":"
    deep = len(path.parts) > DEEPEST or len(name) > _LONGEST_PATH
    return None if leads_out or deep or any(is_junk(part) for part in path.parts) else path


def most_bytes(name: str) -> int:
    """How many bytes a file of that name may have; 0 for one that is not read."""
    return next((most for end, most in _BYTES.items() if name.lower().endswith(end)), 0)


def unpack(archive: Path, folder: Path) -> Iterator[Unmatched]:
    """Write the files of a class's download into a folder; give those that could not be read.

    One author's files spoil no other's: of what is not read anyway an empty file is written, and of a file that is
    too large so much that whoever reads it sees that.

    Raises:
        SubmissionError: it cannot be read, or there is no room for it.
    """
    with entries(archive, archive.name) as opened:
        for entry in opened:
            path, data = entry.path, b""
            most = _MOST_METADATA if path.name in METADATA else most_bytes(path.name)
            try:
                data = entry.read(most + 1) if most else b""
            except SubmissionError as error:
                yield Unmatched(str(path), "", entry.why or str(error))
            target = folder.joinpath(*path.parts)
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            except OSError as error:
                if error.errno in _FOR_ALL:
                    raise SubmissionError(
                        f"{archive.name} cannot be unpacked into {folder}: {error.strerror}"
                    ) from None
                yield Unmatched(str(path), "", f"it cannot be unpacked: {error.strerror}")


# -- what one author handed in -----------------------------------------------------------------------------------------

_MOST_FILES = 500
_MOST_BYTES = 64 << 20
_MOST_ARCHIVES = 50
_ARCHIVES_DEEP = 3
_MOST_OTHERS = 20

_CANNOT_OPEN = (".rar", ".7z", ".gz", ".bz2", ".xz", ".tbz2", ".txz")
_LINK = "it is a link, which is not followed"

_ENVIRONMENT = "pyvenv.cfg"
_OF_ENVIRONMENT = {"bin", "include", "lib", "lib64", "scripts", "share", "etc"}
_INSTALLED = {"site-packages", "dist-packages", "node_modules"}
_MARKS = {_ENVIRONMENT, COURSE_FILE}


class Contents:
    """The files of one author, by the paths that they had there.

    Args:
        parts: what was handed in. Links are not followed, and what is not code is not read.
        is_answer: whether a file of that name is likely to be an answer, so that it is read before others.

    Attributes:
        files: what was read.
        left: why files that may have been answers were not read, in words.
        others: the same of files that cannot be answers.
        disk: where each of them lies on this disk, or the archive that it is in.
    """

    def __init__(self, parts: Iterable[Part], is_answer: Callable[[str], bool]) -> None:
        self.files: dict[PurePosixPath, bytes] = {}
        self.left: dict[PurePosixPath, str] = {}
        self.others: dict[PurePosixPath, str] = {}
        self.disk: dict[PurePosixPath, Path] = {}
        self._is_answer = is_answer
        self._room = _MOST_BYTES
        self._archives = 0
        self._surplus: list[tuple[PurePosixPath, Path]] = []
        for part in parts:
            self._add(list(_walk(part, self)), part.path)
        if self._surplus:
            limits, count = f"more than {_MOST_FILES} files or {_MOST_BYTES >> 20} MiB", len(self._surplus)
            self.leave(*self._surplus[0], f"too much was handed in, {limits}: {counted(count, 'file')} not read")

    def _add(self, entries: Iterable[Entry], place: Path, above: PurePosixPath = ALL_OF_IT, deep: int = 0) -> None:
        """Read files of a folder, or of an archive.

        Args:
            entries: a list, or what a stream gives.
            place: of the archive on the disk.
            above: the path of the archive.
            deep: in how many other archives that lies.
        """
        marks = set[PurePosixPath]()
        if isinstance(entries, list):  # all names are known beforehand
            entries.sort(key=lambda entry: (not self._is_answer(entry.path.name), len(entry.path.parts), entry.path))
            marks |= {entry.path for entry in entries if entry.path.name in _MARKS}
        for entry in entries:
            if entry.path.name in _MARKS:
                marks.add(entry.path)
            disk = entry.file or place
            where, why = _left_out(entry.path, marks)
            if why:
                self.leave(above / where, disk, why, always=True)
            elif where == entry.path:
                try:
                    self._take(above / entry.path, entry, disk, deep)
                except SubmissionError as error:
                    self.leave(above / entry.path, disk, str(error))

    def _take(self, path: PurePosixPath, entry: Entry, disk: Path, deep: int) -> None:
        """Take a file that is Python or a notebook, or those of an archive.

        Raises:
            SubmissionError: it is not taken, and why.
        """
        most, packed = most_bytes(path.name), bool(archive_suffix(path.name))
        if entry.why or not most:
            raise SubmissionError(entry.why or _why_not(path))
        if packed and entry.file is not None:  # it is not read as a whole
            self._take_archive(path, entry.file, disk, deep)
            return
        if self._room <= 0 or len(self.files) >= _MOST_FILES:
            self._surplus.append((path, disk))
            return
        data = entry.read(most + 1)
        self._room -= len(data)
        if len(data) > most:
            raise SubmissionError(f"it is larger than {most // 1024} KiB")
        if packed:
            self._take_archive(path, data, disk, deep + 1)
            return
        if path.suffix.lower() != NOTEBOOK and (why := cannot_be_text(data)):
            raise SubmissionError(why)
        while path in self.files:  # two things of one author, laid side by side
            path = path.with_name(f"{path.stem} (1){path.suffix}")
        self.files[path], self.disk[path] = data, disk

    def _take_archive(self, path: PurePosixPath, source: Path | bytes, disk: Path, deep: int) -> None:
        self._archives += 1
        if deep >= _ARCHIVES_DEEP or self._archives > _MOST_ARCHIVES:
            raise SubmissionError(f"it lies in {deep} other archives, or is one of too many; hand in one zip")
        with entries(source, path.name) as inner:
            self._add(inner, disk, path, deep)

    def leave(self, path: PurePosixPath, disk: Path, why: str, *, always: bool = False) -> None:
        """Note that a file is not read, and why; `always` for a folder, which has no name of a file."""
        self.disk[path] = disk
        if always or most_bytes(path.name) or is_packed(path.name):
            self.left[path] = why
        elif len(self.others) < _MOST_OTHERS:
            self.others[path] = why


def _left_out(path: PurePosixPath, marks: Collection[PurePosixPath]) -> tuple[PurePosixPath, str]:
    """The folder with a file that is left out, and why, "" if no row reports it; the file itself if it is read.

    Args:
        path: of the file.
        marks: files that say of their folders what these are: a virtual environment, or a whole course.
    """
    for above in reversed(path.parents):
        name, parent = above.name.lower(), above.parent
        if name in _INSTALLED:
            return above, "installed packages, which are not read"
        if name in _OF_ENVIRONMENT and parent / _ENVIRONMENT in marks:
            return parent / _ENVIRONMENT, "a virtual environment, whose files are not read"
        if parent / COURSE_FILE in marks and above == solutions_in(parent):
            return above, ""
    return path, ""


def _walk(part: Part, contents: Contents) -> Iterator[Entry]:
    """The files of a part."""
    if part.path.is_symlink() or not part.path.is_dir():
        yield _on_disk(part.name, part.path)
        return

    def leave(folder: Path, why: str) -> None:
        contents.leave(part.name / folder.relative_to(part.path), folder, why, always=True)

    def cannot(error: OSError) -> None:
        leave(Path(str(error.filename)), f"the folder cannot be read: {error.strerror}")

    for folder, inner, names in os.walk(part.path, onerror=cannot):
        here = Path(folder)
        inside = part.name / here.relative_to(part.path)
        links = [name for name in inner if (here / name).is_symlink()]
        inner[:] = sorted(name for name in inner if not is_junk(name) and name not in links)
        for name in inner:
            if name.lower().endswith(PYTHON):  # its files are looked at all the same
                leave(here / name, "it is a folder, not a regular file")
        files = sorted(name for name in {*names, *links} if not is_junk(name))
        yield from (_on_disk(inside / name, here / name) for name in files)
        installed = [name for name in inner if name.lower() in _INSTALLED]
        for name in installed:  # there may be tens of thousands
            yield _on_disk(inside / name / _ENVIRONMENT, here / name)
        deep = len(inside.parts) - len(part.name.parts) >= DEEPEST
        inner[:] = [] if deep else [name for name in inner if name not in installed]


def _on_disk(name: PurePosixPath, path: Path) -> Entry:
    """A file on this disk."""
    try:
        mode = path.lstat().st_mode
        why = _LINK if stat.S_ISLNK(mode) else "" if stat.S_ISREG(mode) else "it is not a regular file"
    except OSError as error:
        why = str(error.strerror)
    return Entry(name, lambda: path.open("rb"), why, path)


def is_packed(name: str) -> bool:
    """Whether a file of that name is an archive, also one that cannot be opened here."""
    return name.lower().endswith((*_CANNOT_OPEN, *ARCHIVES))


def _why_not(path: PurePosixPath) -> str:
    if path.suffix.lower() in _CANNOT_OPEN:
        return f"a {path.suffix.lower()} cannot be opened here; hand in a zip"
    return "it is neither Python nor a notebook"
