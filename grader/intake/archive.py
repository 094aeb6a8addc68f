"""The files in a zip or a tar, and which files and folders of a hand-in nobody wrote.

Nothing that an archive says of itself is trusted: links, devices and paths that lead out of it are left out, and so is
what lies too deep. How much of it is read is bounded before it is read.
"""

from __future__ import annotations

import io
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from grader.course.layout import ARCHIVES, COURSE_FILE, NOTEBOOK, PYTHON, ZIP, solutions_in
from grader.model.errors import SubmissionError

ALL_OF_IT = PurePosixPath()
"""The name of a folder that is all that somebody handed in."""

DEEPEST = 12
"""What lies in so many folders inside one another is not looked at."""

_LONGEST_PATH, _LONGEST_NAME = 1000, 255

_UNREADABLE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError),
    *(RuntimeError, NotImplementedError, ValueError),
)
"""What reading a broken, cut or exotic archive raises."""

MOST_PYTHON, _MOST_TEXT, _MOST_PACKED = 1 << 20, 8 << 20, 32 << 20
"""How large files may be; a notebook has pictures in it."""

_CODE = (*PYTHON, ".pyw", NOTEBOOK)
_CODE_IN = re.compile(r"(.+?)\.(?:py|pyw|ipynb)(?![a-z]).*", re.IGNORECASE | re.DOTALL)
"""A name that goes on behind the ending of code: `double.py.html`, `double.py.bak`, `double.py (1)`, `double.py3`."""
_WRAPPED = (".txt", ".text", ".html", ".htm", ".download", ".json")
"""What browsers, Jupyter and mail programs put behind the name of a file that is text."""

_TEXTS = (".json", ".txt", ".text", ".download")
"""How a file ends that may be code under any name; its content says whether it is."""

_MISTAKEN = (".docx", ".doc", ".odt", ".rtf", ".pdf", ".pages")
"""What a file may be that its author takes for the answer, if it has the name of an exercise."""

_CANNOT_OPEN = (".rar", ".7z", ".gz", ".bz2", ".xz", ".tbz2", ".txz")
_LOCKED = "it is protected by a password; hand it in without one"


@dataclass(frozen=True)
class Entry:
    """A file in an archive or a folder.

    Attributes:
        folder: inside of it.
        name: of the file.
        opened: opens it; of an archive only before the next entry is taken.
        why: it cannot be read, in words; else "".
        file: where it lies, if it is a file on this disk.
    """

    folder: PurePosixPath
    name: str
    opened: Callable[[], IO[bytes] | None]
    why: str = ""
    file: Path | None = None

    @property
    def path(self) -> PurePosixPath:
        """Its path inside of it. It is made when it is needed, as it takes longer than all else here."""
        return self.folder / self.name

    @property
    def place(self) -> tuple[int, str, str]:
        """Return a sort key by which entries that lie high come first."""
        return len(self.folder.parts), str(self.folder), self.name

    def read(self, most: int) -> bytes:
        """Read at most so many bytes of the entry; the size that the archive states is ignored.

        Raises:
            SubmissionError: it cannot be read. That spoils no other entry.
        """
        if self.why:
            raise SubmissionError(self.why)
        try:
            with self.opened() or io.BytesIO() as file:
                return file.read(most)
        except _UNREADABLE as error:
            raise SubmissionError(getattr(error, "strerror", None) or f"it is damaged: {error}") from None


@dataclass
class Room:
    """The limits on all archives of one author together, or on a whole class's download.

    Attributes:
        names: so many files and folders of any kind.
        unpacked: so many bytes of tars, which have to be unpacked from their beginning.
    """

    names: int = 300_000
    unpacked: int = 1 << 30


@contextmanager
def entries(source: Path | bytes, name: str, room: Room) -> Iterator[Iterable[Entry]]:
    """Open an archive: the files of a zip as a list, those of a tar one after another.

    Args:
        source: the archive, or where it lies.
        name: its file name.
        room: what it may take, which becomes less.

    Raises:
        SubmissionError: it cannot be read, or there is too much in it.
    """
    kind = "zip" if name.lower().endswith(ZIP) else "tar"
    try:
        file = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
        with file, zipfile.ZipFile(file) if kind == "zip" else tarfile.open(fileobj=file, mode="r|*") as archive:
            # A tar as a stream: what lies behind a limit is never unpacked.
            yield list(_of_zip(archive, room)) if isinstance(archive, zipfile.ZipFile) else _of_tar(archive, room)
    except _UNREADABLE as error:
        raise SubmissionError(f"{name} cannot be read as a {kind}: {error}") from None


def _of_zip(archive: zipfile.ZipFile, room: Room) -> Iterator[Entry]:
    infos, folders = archive.infolist(), _Folders()
    room.names -= len(infos)
    if room.names < 0:
        raise ValueError(f"there is too much in it: {len(infos):,} files and folders")
    for info in infos:
        # ZipInfo.is_dir fails for an entry without a name, in Python 3.11.
        regular = not info.filename.endswith("/") and stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
        if regular and (inside := folders.inside(info.filename)):
            yield Entry(*inside, partial(archive.open, info), _LOCKED if info.flag_bits & 1 else "")


def _of_tar(archive: tarfile.TarFile, room: Room) -> Iterator[Entry]:
    folders, before = _Folders(), 0
    for member in archive:
        after = member.offset_data + member.size
        room.names, room.unpacked, before = room.names - 1, room.unpacked - (after - before), after
        if room.names < 0 or room.unpacked < 0:
            raise ValueError("there is too much in it")
        if member.isreg() and (inside := folders.inside(member.name)):
            yield Entry(*inside, partial(archive.extractfile, member))


class _Folders:
    """The folders in an archive: each is looked at once, as there may be a hundred thousand files in a few of them."""

    def __init__(self) -> None:
        self._known: dict[str, PurePosixPath | None] = {"": ALL_OF_IT}

    def inside(self, name: str) -> tuple[PurePosixPath, str] | None:
        """Return the folder of an entry and its name; None for what leads out, no person made, or lies too deep."""
        folder, slash, file = name.replace("\\", "/").rpartition("/")
        if slash and not folder:  # an absolute path
            return None
        if folder not in self._known:
            path = PurePosixPath(folder)
            leads_out = path.is_absolute() or ".." in path.parts or folder[1:2] == ":"
            deep = len(path.parts) >= DEEPEST or len(folder) > _LONGEST_PATH
            self._known[folder] = None if leads_out or deep or any(map(is_junk, path.parts)) else path
        above = self._known[folder]
        if above is None or is_junk(file) or len(file) > _LONGEST_NAME or file[1:2] == ":":
            return None
        return (above, file) if file not in ("", "..") else None


# -- what names say ----------------------------------------------------------------------------------------------------


def archive_suffix(name: str) -> str:
    """Return how the name of an archive ends; "" for another file."""
    return next((end for end in ARCHIVES if name.lower().endswith(end)), "")


def is_packed(name: str) -> bool:
    """Return whether a file of that name is an archive, even one that cannot be opened here."""
    return name.lower().endswith((*_CANNOT_OPEN, *ARCHIVES))


def is_junk(name: str) -> bool:
    """Return whether no person made a file or folder."""
    return name.startswith((".", "__MACOSX", "__pycache__")) or name.lower() in ("thumbs.db", "desktop.ini")


def code_stem(name: str) -> tuple[str, bool]:
    """Split off how code ends, and return whether it did: `double.py.html` becomes `double` and True.

    With an ending of anything but a text it is "", and False.
    """
    if not is_packed(name) and (match := _CODE_IN.match(name)):
        return match[1], True
    stem = name
    while ending := next((end for end in (*_WRAPPED, *_MISTAKEN) if stem.lower().endswith(end)), ""):
        stem = stem[: -len(ending)]
    return (stem if stem != name or "." not in name else "", False)


def is_code(name: str) -> bool:
    """Return whether a file of that name may have an answer in it, or is an archive."""
    return name.lower().endswith(_CODE) or is_packed(name) or code_stem(name)[1]


def may_be_code(name: str, is_answer: Callable[[str], bool]) -> bool:
    """Return whether a file is looked at: code, a text that may be some, or one with an exercise's name."""
    return is_code(name) or name.lower().endswith(_TEXTS) or (bool(code_stem(name)[0]) and is_answer(name))


def most_bytes(name: str) -> int:
    """Return how many bytes a file of that name may have."""
    return _MOST_PACKED if is_packed(name) else _MOST_TEXT


# -- folders that nobody wrote -----------------------------------------------------------------------------------------

_ENVIRONMENT, _CONDA, _HISTORY = "pyvenv.cfg", "conda-meta", "history"
_OF_ENVIRONMENT = {"bin", "include", "lib", "lib64", "scripts", "share", "etc"}
_OF_CONDA = {*_OF_ENVIRONMENT, _CONDA, "library", "dlls", "man", "pkgs", "sbin", "ssl", "var", "x86_64-conda-linux-gnu"}
_INSTALLED = {"site-packages", "dist-packages", "node_modules"}
_MARKS = {_ENVIRONMENT, _CONDA, COURSE_FILE}
_VIRTUAL = "a virtual environment, whose files are not read"


class LeftOut:
    """The folders of a hand-in that are left out: virtual environments, installed packages, solutions of a course.

    `add` is called with all paths that are known, as a file may say what the folder around it is.
    """

    def __init__(self) -> None:
        self._marks: set[PurePosixPath] = set()
        self._known: dict[PurePosixPath, tuple[PurePosixPath | None, str]] = {}

    def add(self, folder: PurePosixPath, name: str) -> None:
        """Note a file or a folder in a folder."""
        mark = folder / name if name in _MARKS else folder if name == _HISTORY and folder.name == _CONDA else None
        if mark is not None and mark not in self._marks:
            self._marks.add(mark)
            self._known.clear()

    def of(self, folder: PurePosixPath) -> tuple[PurePosixPath | None, str]:
        """Return what is left out with all files of a folder, by its name for a row, and why; "" if no row reports it.

        None where they are read.
        """
        if folder not in self._known:
            self._known[folder] = self._of(folder)
        return self._known[folder]

    def _of(self, folder: PurePosixPath) -> tuple[PurePosixPath | None, str]:
        if folder == ALL_OF_IT:
            return None, ""
        if (above := self.of(folder.parent))[0] is not None:
            return above
        name, parent = folder.name.lower(), folder.parent
        if name in _INSTALLED:
            return folder, "installed packages, which are not read"
        if name in _OF_ENVIRONMENT and parent / _ENVIRONMENT in self._marks:
            return parent / _ENVIRONMENT, _VIRTUAL
        if name in _OF_CONDA and parent / _CONDA in self._marks:
            return parent / _CONDA, _VIRTUAL
        if parent / COURSE_FILE in self._marks and folder == solutions_in(parent):
            return folder, ""
        return None, ""
