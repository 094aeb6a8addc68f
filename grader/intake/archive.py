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
        folder: its folder inside of that.
        name: the name of the file.
        opened: opens the file; in an archive only before the next entry is taken.
        why: the reason why it cannot be read, in words; else "".
        file: its path, if it is a file on this disk.
    """

    folder: PurePosixPath
    name: str
    opened: Callable[[], IO[bytes] | None]
    why: str = ""
    file: Path | None = None

    @property
    def path(self) -> PurePosixPath:
        """Return the path of the file inside the archive or folder.

        It is made only when needed, as that takes time.
        """
        return self.folder / self.name

    @property
    def depth_key(self) -> tuple[int, str, str]:
        """Return a sort key by which files in outer folders come first."""
        return len(self.folder.parts), str(self.folder), self.name

    def read(self, most: int) -> bytes:
        """Return the beginning of the file, at most `most` bytes.

        The size that the archive states is ignored.

        Raises:
            SubmissionError: this file cannot be read; other entries still can.
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
    """What the limits still allow to be read of all archives of one author, or of a whole class's download.

    Attributes:
        names: the number of files and folders of any kind.
        unpacked: the number of bytes of tars, which have to be unpacked from their beginning.
    """

    names: int = 300_000
    unpacked: int = 1 << 30


@contextmanager
def entries(source: Path | bytes, name: str, room: Room) -> Iterator[Iterable[Entry]]:
    """Open an archive and yield its files; close it when the block ends.

    The files of a zip are a list. Those of a tar are an iterator: each must be read before the next is taken.

    Args:
        source: the content of the archive, or its path.
        name: the file name of the archive.
        room: the limits; what is read of the archive is subtracted from them.

    Raises:
        SubmissionError: the archive cannot be read, or there is too much in it.
    """
    kind = "zip" if name.lower().endswith(ZIP) else "tar"
    try:
        file = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
        with file, zipfile.ZipFile(file) if kind == "zip" else tarfile.open(fileobj=file, mode="r|*") as archive:
            # A tar as a stream: what lies behind a limit is never unpacked.
            yield (
                list(_zip_entries(archive, room))
                if isinstance(archive, zipfile.ZipFile)
                else _tar_entries(archive, room)
            )
    except _UNREADABLE as error:
        raise SubmissionError(f"{name} cannot be read as a {kind}: {error}") from None


def _zip_entries(archive: zipfile.ZipFile, room: Room) -> Iterator[Entry]:
    infos, folders = archive.infolist(), _Folders()
    room.names -= len(infos)
    if room.names < 0:
        raise ValueError(f"there is too much in it: {len(infos):,} files and folders")
    for info in infos:
        # ZipInfo.is_dir fails for an entry without a name, in Python 3.11.
        regular = not info.filename.endswith("/") and stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
        if regular and (inside := folders.split_path(info.filename)):
            yield Entry(*inside, partial(archive.open, info), _LOCKED if info.flag_bits & 1 else "")


def _tar_entries(archive: tarfile.TarFile, room: Room) -> Iterator[Entry]:
    folders, before = _Folders(), 0
    for member in archive:
        after = member.offset_data + member.size
        room.names, room.unpacked, before = room.names - 1, room.unpacked - (after - before), after
        if room.names < 0 or room.unpacked < 0:
            raise ValueError("there is too much in it")
        if member.isreg() and (inside := folders.split_path(member.name)):
            yield Entry(*inside, partial(archive.extractfile, member))


class _Folders:
    """The folders in an archive: each is examined once, as a few folders may contain a hundred thousand files."""

    def __init__(self) -> None:
        self._known: dict[str, PurePosixPath | None] = {"": ALL_OF_IT}

    def split_path(self, name: str) -> tuple[PurePosixPath, str] | None:
        """Split the path of a file in an archive into its folder and its name.

        `src/double.py` becomes `(PurePosixPath("src"), "double.py")`. Return None if the file is left out: its path
        leads out of the archive, is junk, or lies too deep.
        """
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
    """Return the suffix of an archive's name, such as ".tar.gz"; "" for other files."""
    return next((end for end in ARCHIVES if name.lower().endswith(end)), "")


def is_packed(name: str) -> bool:
    """Return whether a file name is that of an archive.

    That includes archives that cannot be opened here, such as `a.rar`.
    """
    return name.lower().endswith((*_CANNOT_OPEN, *ARCHIVES))


def is_junk(name: str) -> bool:
    """Return whether a name is that of a hidden or generated file or folder.

    An example is `__pycache__`.
    """
    return name.startswith((".", "__MACOSX", "__pycache__")) or name.lower() in ("thumbs.db", "desktop.ini")


def code_stem(name: str) -> tuple[str, bool]:
    """Return a file name without its suffixes, and whether a suffix of code was among them.

    `double.py.html` returns `("double", True)`. `double`, `double.txt` and `double.pdf` return `("double", False)`. A
    name with any other suffix, such as `double.csv`, returns `("", False)`.
    """
    if not is_packed(name) and (match := _CODE_IN.match(name)):
        return match[1], True
    stem = name
    while ending := next((end for end in (*_WRAPPED, *_MISTAKEN) if stem.lower().endswith(end)), ""):
        stem = stem[: -len(ending)]
    return (stem if stem != name or "." not in name else "", False)


def is_code(name: str) -> bool:
    """Return whether a file name has a suffix of code or of an archive.

    Another suffix may follow it, as in `double.py.html`.
    """
    return name.lower().endswith(_CODE) or is_packed(name) or code_stem(name)[1]


def may_be_code(name: str, is_answer: Callable[[str], bool]) -> bool:
    """Return whether a file should be read, by its name.

    It should if it has a suffix of code, of an archive or of a text that may be code, or if it is named after an
    exercise.

    Args:
        name: the name of the file.
        is_answer: a function that returns whether a file name is likely that of an answer.
    """
    return is_code(name) or name.lower().endswith(_TEXTS) or (bool(code_stem(name)[0]) and is_answer(name))


def most_bytes(name: str) -> int:
    """Return the size in bytes above which a file with this name is not read.

    It is 32 MiB for an archive, and 8 MiB for any other file.
    """
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
        """Record the name of a file or folder, as some names show what the folder around them is.

        For example, `pyvenv.cfg` shows that its folder is a virtual environment. Other names are ignored.

        Args:
            folder: the folder.
            name: the name in it.
        """
        mark = folder / name if name in _MARKS else folder if name == _HISTORY and folder.name == _CONDA else None
        if mark is not None and mark not in self._marks:
            self._marks.add(mark)
            self._known.clear()

    def path_and_reason(self, folder: PurePosixPath) -> tuple[PurePosixPath | None, str]:
        """Return the left-out folder that a folder is in, and why its files are not read.

        After `add(PurePosixPath("env"), "pyvenv.cfg")`, the folder `env/lib/torch` returns the path `env/pyvenv.cfg`
        and "a virtual environment, whose files are not read".

        Returns:
            The outermost left-out folder, which may be the folder itself, and the reason; (None, "") if the folder's
            files are read. For a virtual environment, it is the path that shows this. The reason is "" for a course's
            solutions: they are not reported.
        """
        if folder not in self._known:
            self._known[folder] = self._path_and_reason_uncached(folder)
        return self._known[folder]

    def _path_and_reason_uncached(self, folder: PurePosixPath) -> tuple[PurePosixPath | None, str]:
        """Compute what `path_and_reason` returns, from the names recorded so far."""
        if folder == ALL_OF_IT:
            return None, ""
        if (above := self.path_and_reason(folder.parent))[0] is not None:
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
