"""What one author handed in → its files in memory, those in folders and in zips within zips alike."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grader.course.suffixes import NOTEBOOK, PYTHON, ZIP
from grader.intake.archive import DEEPEST, Caps, files_in, is_junk
from grader.intake.handed import Handed, Part
from grader.model.errors import SubmissionError

_PYTHON_BYTES = 1 << 20
_NOTEBOOK_BYTES = 8 << 20  # with the pictures in it
_ZIP_BYTES = 32 << 20
_MOST_FILES = 500
_MOST_SEEN = 20_000
_MOST_BYTES = 64 << 20
_ZIPS_DEEP = 3
CANNOT_OPEN = (".rar", ".7z", ".tar", ".gz", ".tgz", ".bz2", ".xz")
_MODULE = ".py"
_FOLDER = "it is a folder, not a regular file"


@dataclass
class Contents:
    """The files of one author, by the paths that they had there.

    Attributes:
        files: what was read.
        left: why the others were not read, in words.
        disk: where each of both lies on this disk, or the zip that it is in.
    """

    files: dict[PurePosixPath, bytes] = field(default_factory=dict)
    left: dict[PurePosixPath, str] = field(default_factory=dict)
    disk: dict[PurePosixPath, Path] = field(default_factory=dict)
    _room: int = _MOST_BYTES

    def add(self, path: PurePosixPath, data: bytes, disk: Path, deep: int = 0) -> None:
        """Take a file, or what is in it if it is a zip."""
        if path.suffix.lower() == ZIP:
            self._add_zip(path, data, disk, deep)
            return
        self._room -= len(data)
        if self._room < 0 or len(self.files) >= _MOST_FILES:
            too_much = f"too much was handed in: more than {_MOST_FILES} files or {_MOST_BYTES >> 20} MiB"
            self.leave(path, disk, too_much)
            return
        while path in self.files:  # two things of one author, laid side by side
            path = path.with_name(f"{path.stem} (1){path.suffix}")
        self.files[path], self.disk[path] = data, disk

    def _add_zip(self, path: PurePosixPath, source: Path | bytes, disk: Path, deep: int) -> None:
        if deep >= _ZIPS_DEEP:
            self.leave(path, disk, f"a zip in a zip, more than {_ZIPS_DEEP} deep; hand in one zip")
            return
        try:
            caps = Caps(file_bytes=_ZIP_BYTES, all_bytes=min(_MOST_BYTES, max(0, self._room)))
            inside = list(files_in(source, path.name, _wanted, caps))
        except SubmissionError as error:
            self.leave(path, disk, str(error))
            return
        for inner, data in inside:
            self.add(path / inner, data, disk, deep + 1)

    def add_zip_file(self, path: PurePosixPath, disk: Path) -> None:
        """Take what is in a zip on disk, which is not read as a whole."""
        self._add_zip(path, disk, disk, 0)

    def leave(self, path: PurePosixPath, disk: Path, why: str) -> None:
        """Note that a file is not read, and why."""
        self.left[path], self.disk[path] = why, disk


def contents_of(handed: Handed) -> Contents:
    """Read what one author handed in. Links are not followed, and what is no code is not read."""
    found = Contents()
    for part in handed.parts:
        for path, disk in _walk(part, found):
            _read(found, path, disk)
    return found


def _read(found: Contents, path: PurePosixPath, disk: Path) -> None:
    most = _wanted(path)
    try:
        mode = disk.lstat()
        if stat.S_ISLNK(mode.st_mode):
            found.leave(path, disk, "it is a link, which is not followed")
        elif not stat.S_ISREG(mode.st_mode):
            found.leave(path, disk, "it is not a regular file")
        elif path.suffix.lower() == ZIP:
            found.add_zip_file(path, disk)
        elif not most:
            found.leave(path, disk, _why_not(path))
        elif mode.st_size > most:
            found.leave(path, disk, f"it is larger than {most // 1024} KiB")
        else:
            found.add(path, disk.read_bytes(), disk)
    except OSError as error:
        found.leave(path, disk, error.strerror or type(error).__name__)


def _walk(part: Part, found: Contents) -> Iterator[tuple[PurePosixPath, Path]]:
    """The files of a part, by name, those above before those below."""
    if part.path.is_symlink() or not part.path.is_dir():
        yield part.name, part.path
        return

    def cannot(error: OSError) -> None:
        folder = Path(str(error.filename))
        found.leave(part.name / folder.relative_to(part.path), folder, f"the folder cannot be read: {error.strerror}")

    seen = 0
    for folder, inner, names in os.walk(part.path, onerror=cannot):
        here = Path(folder)
        inside = PurePosixPath(*here.relative_to(part.path).parts)
        environment = "pyvenv.cfg" in names
        names += [name for name in inner if (here / name).is_symlink()]
        inner[:] = sorted(name for name in inner if not is_junk(name) and not (here / name).is_symlink())
        for name in inner:
            if name.lower().endswith(_MODULE):  # what lies in it is looked at all the same
                found.leave(part.name / inside / name, here / name, _FOLDER)
        if len(inside.parts) >= DEEPEST or environment:
            inner.clear()
        for name in () if environment else sorted(names):
            seen += 1
            if seen > _MOST_SEEN:
                return
            if not is_junk(name):
                yield part.name / inside / name, here / name


def _wanted(path: PurePosixPath) -> int:
    """How many bytes a file may have; 0 for one that is not read."""
    name = path.name.lower()
    if name.endswith(PYTHON):
        return _PYTHON_BYTES
    return {NOTEBOOK: _NOTEBOOK_BYTES, ZIP: _ZIP_BYTES}.get(path.suffix.lower(), 0)


def _why_not(path: PurePosixPath) -> str:
    if path.suffix.lower() in CANNOT_OPEN:
        return f"a {path.suffix.lower()} cannot be opened here; hand in a zip"
    return "neither Python nor a notebook"
