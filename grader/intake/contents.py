"""What one author handed in → its files in memory, those in folders and in archives within archives alike.

A limit costs the file that exceeds it and no other one. What looks like an answer is read first.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from grader.course.layout import COURSE_FILE, NOTEBOOK, PYTHON, solutions_in
from grader.intake.archive import DEEPEST, Entry, entries, is_archive, is_junk, most_bytes
from grader.intake.handed import Part
from grader.intake.source import cannot_be_text
from grader.model.errors import SubmissionError
from grader.model.score import counted

_MOST_FILES = 500
_MOST_SEEN = 100_000
_MOST_BYTES = 64 << 20
_MOST_ARCHIVES = 50
_ARCHIVES_DEEP = 3
_MOST_OTHERS = 20

_CANNOT_OPEN = (".rar", ".7z", ".gz", ".bz2", ".xz", ".tbz2", ".txz")
_FOLDER = "it is a folder, not a regular file"
_LINK = "it is a link, which is not followed"

_ENVIRONMENT = "pyvenv.cfg"
_OF_ENVIRONMENT = {"bin", "include", "lib", "lib64", "scripts", "share", "etc"}
_INSTALLED = {"site-packages", "dist-packages", "node_modules"}


class Contents:
    """The files of one author, by the paths that they had there.

    Args:
        is_answer: whether a file of that name is likely to be an answer, so that it is read before others.

    Attributes:
        files: what was read.
        left: why files that may have been answers were not read, in words.
        others: the same of what can be no answer.
        disk: where each of them lies on this disk, or the archive that it is in.
    """

    def __init__(self, is_answer: Callable[[str], bool]) -> None:
        self.files: dict[PurePosixPath, bytes] = {}
        self.left: dict[PurePosixPath, str] = {}
        self.others: dict[PurePosixPath, str] = {}
        self.disk: dict[PurePosixPath, Path] = {}
        self._is_answer = is_answer
        self._room = _MOST_BYTES
        self._archives = 0
        self._surplus: dict[PurePosixPath, int] = {}

    def add(self, part: Part) -> None:
        """Read the files of a part. Links are not followed, and what is not code is not read."""
        found = list(_walk(part, self))
        marks = _Marks(path for path, _ in found)
        for path, disk in sorted(found, key=lambda row: self._order(row[0])):
            self._add(path, disk, marks)
        for path, count in self._surplus.items():
            limits = f"more than {_MOST_FILES} files or {_MOST_BYTES >> 20} MiB"
            self._leave(path, part.path, f"too much was handed in, {limits}: {counted(count, 'file')} not read")

    def _order(self, path: PurePosixPath) -> tuple[bool, int, PurePosixPath]:
        return not self._is_answer(path.name), len(path.parts), path

    def _add(self, path: PurePosixPath, disk: Path, marks: _Marks) -> None:
        if self._is_left_out(path, disk, marks):
            return
        try:
            mode = disk.lstat()
            if stat.S_ISLNK(mode.st_mode):
                self._leave(path, disk, _LINK)
            elif not stat.S_ISREG(mode.st_mode):
                self._leave(path, disk, "it is not a regular file")
            elif is_archive(path.name):  # it is not read as a whole
                self._add_archive(path, disk, disk, 0)
            else:
                self._take(path, disk, lambda most: _start_of(disk, most))
        except OSError as error:
            self._leave(path, disk, error.strerror or type(error).__name__)

    def _add_archive(self, path: PurePosixPath, source: Path | bytes, disk: Path, deep: int) -> None:
        self._archives += 1
        if deep >= _ARCHIVES_DEEP or self._archives > _MOST_ARCHIVES:
            self._leave(path, disk, f"it lies in {deep} other archives, or is one of too many; hand in one zip")
            return
        try:
            with entries(source, path.name) as inner:
                if isinstance(inner, list):  # all names are known beforehand
                    inner.sort(key=lambda entry: self._order(entry.path))
                marks = _Marks([entry.path for entry in inner] if isinstance(inner, list) else [])
                for entry in inner:
                    marks.look(entry.path)
                    if not self._is_left_out(entry.path, disk, marks, path):
                        self._add_entry(path / entry.path, entry, disk, deep)
        except SubmissionError as error:
            self._leave(path, disk, str(error))

    def _add_entry(self, path: PurePosixPath, entry: Entry, disk: Path, deep: int) -> None:
        if entry.why:
            self._leave(path, disk, entry.why)
        elif is_archive(path.name):
            data = self._within(path, disk, entry.read)
            if data is not None:
                self._add_archive(path, data, disk, deep + 1)
        else:
            self._take(path, disk, entry.read)

    def _is_left_out(self, path: PurePosixPath, disk: Path, marks: _Marks, above: PurePosixPath | None = None) -> bool:
        """Whether a file is installed and not written by its author, which is noted once; or a course's solution."""
        where, why = marks.left_out(path)
        if where is not None and why:
            self._leave(where if above is None else above / where, disk, why, always=True)
        return where is not None

    def _take(self, path: PurePosixPath, disk: Path, read: Callable[[int], bytes]) -> None:
        """Take a file that is Python or a notebook."""
        data = self._within(path, disk, read)
        if data is None:
            return
        if path.suffix.lower() != NOTEBOOK and (why := cannot_be_text(data)):
            self._leave(path, disk, why)
            return
        while path in self.files:  # two things of one author, laid side by side
            path = path.with_name(f"{path.stem} (1){path.suffix}")
        self.files[path], self.disk[path] = data, disk

    def _within(self, path: PurePosixPath, disk: Path, read: Callable[[int], bytes]) -> bytes | None:
        """The bytes of a file, if limits allow it; else why not is noted."""
        most = most_bytes(path)
        if not most:
            self._leave(path, disk, _why_not(path))
            return None
        if self._room <= 0 or len(self.files) >= _MOST_FILES:
            first = next(iter(self._surplus), path)
            self._surplus[first] = self._surplus.get(first, 0) + 1
            return None
        try:
            data = read(most + 1)
        except SubmissionError as error:
            self._leave(path, disk, str(error))
            return None
        self._room -= len(data)
        if len(data) > most:
            self._leave(path, disk, f"it is larger than {most // 1024} KiB")
            return None
        return data

    def leave_folder(self, path: PurePosixPath, disk: Path, why: str = _FOLDER) -> None:
        """Note that a folder is not read, and why."""
        self._leave(path, disk, why, always=True)

    def _leave(self, path: PurePosixPath, disk: Path, why: str, *, always: bool = False) -> None:
        """Note the same of a file."""
        if always or most_bytes(path) or is_packed(path.name):
            self.left[path], self.disk[path] = why, disk
        elif len(self.others) < _MOST_OTHERS:
            self.others[path], self.disk[path] = why, disk


class _Marks:
    """What files say of the folders that they lie in: a virtual environment, or a whole course.

    Args:
        paths: of all files.
    """

    def __init__(self, paths: Iterable[PurePosixPath]) -> None:
        self._environments: set[PurePosixPath] = set()
        self._courses: set[PurePosixPath] = set()
        for path in paths:
            self.look(path)

    def look(self, path: PurePosixPath) -> None:
        """Take one more file into account."""
        if path.name == _ENVIRONMENT:
            self._environments.add(path.parent)
        elif path.name == COURSE_FILE:
            self._courses.add(path.parent)

    def left_out(self, path: PurePosixPath) -> tuple[PurePosixPath | None, str]:
        """The folder that is left out and has the file, with why, which is "" where nobody need know."""
        for above in reversed(path.parents):
            name, parent = above.name.lower(), above.parent
            if name in _INSTALLED:
                return above, "installed packages, which are not read"
            if name in _OF_ENVIRONMENT and parent in self._environments:
                return parent / _ENVIRONMENT, "a virtual environment, whose files are not read"
            if parent in self._courses and above == solutions_in(parent):
                return above, ""
        return None, ""


def _walk(part: Part, found: Contents) -> Iterator[tuple[PurePosixPath, Path]]:
    """The files of a part."""
    if part.path.is_symlink() or not part.path.is_dir():
        yield part.name, part.path
        return

    def cannot(error: OSError) -> None:
        folder = Path(str(error.filename))
        why = f"the folder cannot be read: {error.strerror}"
        found.leave_folder(part.name / folder.relative_to(part.path), folder, why)

    seen = 0
    for folder, inner, names in os.walk(part.path, onerror=cannot):
        here = Path(folder)
        inside = part.name / PurePosixPath(*here.relative_to(part.path).parts)
        links = [name for name in inner if (here / name).is_symlink()]
        inner[:] = sorted(name for name in inner if not is_junk(name) and name not in links)
        for name in inner:
            if name.lower().endswith(PYTHON):  # what lies in it is looked at all the same
                found.leave_folder(inside / name, here / name)
        for name in sorted({*names, *links}):
            if not is_junk(name):
                seen += 1
                yield inside / name, here / name
        if seen > _MOST_SEEN:
            found.leave_folder(inside, here, f"more than {_MOST_SEEN} files are in it; the others are not looked at")
            return
        installed = [name for name in inner if name.lower() in _INSTALLED]
        for name in installed:  # there may be tens of thousands
            yield inside / name / _ENVIRONMENT, here / name
        deep = len(inside.parts) - len(part.name.parts) >= DEEPEST
        inner[:] = [] if deep else [name for name in inner if name not in installed]


def _start_of(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        return file.read(most)


def is_packed(name: str) -> bool:
    """Whether a file of that name is an archive, also one that cannot be opened here."""
    return name.lower().endswith(_CANNOT_OPEN) or is_archive(name)


def _why_not(path: PurePosixPath) -> str:
    if path.suffix.lower() in _CANNOT_OPEN:
        return f"a {path.suffix.lower()} cannot be opened here; hand in a zip"
    return "neither Python nor a notebook"
