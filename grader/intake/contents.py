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
from grader.intake.handed import ALL_OF_IT, Part
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
        others: the same of files that cannot be answers.
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
        self._add(list(_walk(part, self)), part.path)
        for path, count in self._surplus.items():
            limits = f"more than {_MOST_FILES} files or {_MOST_BYTES >> 20} MiB"
            self._leave(path, part.path, f"too much was handed in, {limits}: {counted(count, 'file')} not read")

    def _add(self, entries: Iterable[Entry], place: Path, above: PurePosixPath = ALL_OF_IT, deep: int = 0) -> None:
        """Read files of a folder, or of an archive.

        Args:
            entries: a list, or what a stream gives.
            place: of the archive on the disk.
            above: the path of the archive.
            deep: in how many other archives that lies.
        """
        marks = _Marks()
        if isinstance(entries, list):  # all names are known beforehand
            entries.sort(key=lambda entry: (not self._is_answer(entry.path.name), len(entry.path.parts), entry.path))
            for entry in entries:
                marks.look(entry.path)
        for entry in entries:
            marks.look(entry.path)
            path, disk = above / entry.path, entry.file or place
            where, why = marks.left_out(entry.path)
            if where is not None:  # installed and not written by the author, which is noted once; or a solution
                if why:
                    self._leave(above / where, disk, why, always=True)
            elif entry.why:
                self._leave(path, disk, entry.why)
            elif not is_archive(path.name):
                self._take(path, disk, entry)
            elif entry.file is not None:  # it is not read as a whole
                self._add_archive(path, entry.file, disk, deep)
            elif (data := self._within(path, disk, entry)) is not None:
                self._add_archive(path, data, disk, deep + 1)

    def _add_archive(self, path: PurePosixPath, source: Path | bytes, disk: Path, deep: int) -> None:
        self._archives += 1
        if deep >= _ARCHIVES_DEEP or self._archives > _MOST_ARCHIVES:
            self._leave(path, disk, f"it lies in {deep} other archives, or is one of too many; hand in one zip")
            return
        try:
            with entries(source, path.name) as inner:
                self._add(inner, disk, path, deep)
        except SubmissionError as error:
            self._leave(path, disk, str(error))

    def _take(self, path: PurePosixPath, disk: Path, entry: Entry) -> None:
        """Take a file that is Python or a notebook."""
        data = self._within(path, disk, entry)
        if data is None:
            return
        if path.suffix.lower() != NOTEBOOK and (why := cannot_be_text(data)):
            self._leave(path, disk, why)
            return
        while path in self.files:  # two things of one author, laid side by side
            path = path.with_name(f"{path.stem} (1){path.suffix}")
        self.files[path], self.disk[path] = data, disk

    def _within(self, path: PurePosixPath, disk: Path, entry: Entry) -> bytes | None:
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
            data = entry.read(most + 1)
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
    """What files say of the folders that they lie in: a virtual environment, or a whole course."""

    def __init__(self) -> None:
        self._environments: set[PurePosixPath] = set()
        self._courses: set[PurePosixPath] = set()

    def look(self, path: PurePosixPath) -> None:
        """Take one more file into account."""
        if path.name == _ENVIRONMENT:
            self._environments.add(path.parent)
        elif path.name == COURSE_FILE:
            self._courses.add(path.parent)

    def left_out(self, path: PurePosixPath) -> tuple[PurePosixPath | None, str]:
        """The folder that is left out and has the file, and why; "" if no row reports it."""
        for above in reversed(path.parents):
            name, parent = above.name.lower(), above.parent
            if name in _INSTALLED:
                return above, "installed packages, which are not read"
            if name in _OF_ENVIRONMENT and parent in self._environments:
                return parent / _ENVIRONMENT, "a virtual environment, whose files are not read"
            if parent in self._courses and above == solutions_in(parent):
                return above, ""
        return None, ""


def _walk(part: Part, contents: Contents) -> Iterator[Entry]:
    """The files of a part."""
    if part.path.is_symlink() or not part.path.is_dir():
        yield _on_disk(part.name, part.path)
        return

    def cannot(error: OSError) -> None:
        folder = Path(str(error.filename))
        why = f"the folder cannot be read: {error.strerror}"
        contents.leave_folder(part.name / folder.relative_to(part.path), folder, why)

    seen = 0
    for folder, inner, names in os.walk(part.path, onerror=cannot):
        here = Path(folder)
        inside = part.name / PurePosixPath(*here.relative_to(part.path).parts)
        links = [name for name in inner if (here / name).is_symlink()]
        inner[:] = sorted(name for name in inner if not is_junk(name) and name not in links)
        for name in inner:
            if name.lower().endswith(PYTHON):  # its files are looked at all the same
                contents.leave_folder(inside / name, here / name)
        for name in sorted({*names, *links}):
            if not is_junk(name):
                seen += 1
                yield _on_disk(inside / name, here / name)
        if seen > _MOST_SEEN:
            contents.leave_folder(inside, here, f"it has more than {_MOST_SEEN} files; the others are not looked at")
            return
        installed = [name for name in inner if name.lower() in _INSTALLED]
        for name in installed:  # there may be tens of thousands
            yield _on_disk(inside / name / _ENVIRONMENT, here / name)
        deep = len(inside.parts) - len(part.name.parts) >= DEEPEST
        inner[:] = [] if deep else [name for name in inner if name not in installed]


def _on_disk(name: PurePosixPath, path: Path) -> Entry:
    """A file on this disk."""

    def read(most: int) -> bytes:
        try:
            with path.open("rb") as file:
                return file.read(most)
        except OSError as error:
            raise SubmissionError(error.strerror or type(error).__name__) from None

    try:
        mode = path.lstat().st_mode
    except OSError as error:
        return Entry(name, read, error.strerror or type(error).__name__, path)
    why = _LINK if stat.S_ISLNK(mode) else "" if stat.S_ISREG(mode) else "it is not a regular file"
    return Entry(name, read, why, path)


def is_packed(name: str) -> bool:
    """Whether a file of that name is an archive, also one that cannot be opened here."""
    return name.lower().endswith(_CANNOT_OPEN) or is_archive(name)


def _why_not(path: PurePosixPath) -> str:
    if path.suffix.lower() in _CANNOT_OPEN:
        return f"a {path.suffix.lower()} cannot be opened here; hand in a zip"
    return "neither Python nor a notebook"
