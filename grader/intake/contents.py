"""What somebody handed in, and its files: those in folders, in a zip or a tar, and in archives within archives alike.

A whole class's download is written to disk; what one author handed in is read into memory. How many bytes and names one
author may fill is limited for all of it together. A limit costs what exceeds it, and what looks like an answer comes
first; nobody else loses anything by it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath

from grader.course.layout import NOTEBOOK, PYTHON
from grader.intake import kinds
from grader.intake.archive import (
    ALL_OF_IT,
    DEEPEST,
    MOST_PYTHON,
    Entry,
    LeftOut,
    Room,
    archive_suffix,
    entries,
    is_code,
    is_junk,
    is_packed,
    may_be_code,
    most_bytes,
)
from grader.model.errors import SubmissionError
from grader.model.score import pluralize

LATE = "handed in late, as Canvas says"
"""The note of what Canvas marks as late; it does not say how late."""

METADATA = ("submission_metadata.yml", "submission_metadata.yaml")
"""The file of Gradescope's export that says whose each submission is."""

TIME = "timestamp.txt"
"""The file of nbgrader that says when an assignment was handed in."""

NOTE_KINDS = {"handed in late": "late", "taken from": "taken from", "several versions": "several versions"}
"""Kinds of notes on files, by what such a note begins with."""


@dataclass(frozen=True)
class Part:
    """A file or folder on disk that is a part of what somebody handed in.

    Attributes:
        path: its path on the disk.
        name: the path that its author gave it; `ALL_OF_IT` for a folder that is all that was handed in.
        at: the time when it was handed in, in ISO 8601, where its platform says that of each part; or "".
        unread: the text in place of a time that can be read; or "".
    """

    path: Path
    name: PurePosixPath = ALL_OF_IT
    at: str = ""
    unread: str = ""


@dataclass(frozen=True)
class Handed:
    """What one author or group handed in.

    Attributes:
        key: the name of its report, and of its author, or of its group: a number, where the platform gives one.
        authors: the authors, each of whom has a row of the gradebook.
        parts: its files and folders.
        at: the time when it was handed in, in ISO 8601, as the platform says; "" if it does not.
        late: True if the platform says that it was late.
        name: the name of the person or the group, where `key` is a number; or "".
        upload_prefix: the prefix of names of files that the platform's bulk upload gives back to them; or "".
        unread: the text in place of a time that can be read; or "".
    """

    key: str
    authors: tuple[str, ...]
    parts: tuple[Part, ...]
    at: str = ""
    late: bool = False
    name: str = ""
    upload_prefix: str = ""
    unread: str = ""


@dataclass(frozen=True)
class Unmatched:
    """A file that was handed in and belongs to no exercise or to no author, and why.

    Attributes:
        file: its path, from the folder of submissions, or from its author's where that is known; "" for all of it.
        author: the author, or "" if unknown.
        why: the reason, in words.
    """

    file: str
    author: str
    why: str


# -- what one author handed in, in memory ------------------------------------------------------------------------------

_MOST_FILES = 500
_MOST_BYTES = 64 << 20
_MOST_ARCHIVES = 50
_ARCHIVES_DEEP = 3
_MOST_NAMES = 300_000
"""Of files and folders on the disk that are looked at."""

_MOST_OTHERS, _MOST_LEFT = 20, 200
"""So many files that were not read are named in rows."""

_NEITHER = "it is neither Python nor a notebook"
_FOLDER = "it is a folder, not a regular file"
_LINK = "it is a link, which is not followed"


class Contents:
    """The files that one author handed in, read into memory; archives are opened.

    Args:
        parts: the files and folders that were handed in. Links are not followed, and what is not code is not read.
        is_answer: a function that says by a file's name if it is likely an answer, so that it is read before others.
        keeps_archives_closed: True if archives stay closed.

    Attributes:
        files: the contents of the files that were read, by their paths in what was handed in, such as
            `hw1.zip/double.py`.
        notebooks: the paths of the files that are notebooks.
        left: the reasons, in words, why files that may have been answers were not read; by path.
        others: the same of files that cannot be answers.
        disk: the path of each of them on this disk, or of the archive that it is in.
    """

    def __init__(
        self, parts: Iterable[Part], is_answer: Callable[[str], bool], *, keeps_archives_closed: bool = False
    ) -> None:
        self.files: dict[PurePosixPath, bytes] = {}
        self.notebooks: set[PurePosixPath] = set()
        self.left: dict[PurePosixPath, str] = {}
        self.others: dict[PurePosixPath, str] = {}
        self.disk: dict[PurePosixPath, Path] = {}
        self._is_answer = is_answer
        self._keeps_archives_closed = keeps_archives_closed
        self._bytes = _MOST_BYTES
        self._names = _MOST_NAMES
        self._archives = 0
        self._room = Room()
        self._seen = Counter[bool]()
        self._surplus: list[tuple[PurePosixPath, Path]] = []
        self._more = 0
        for part in parts:
            self._add_entries(list(self._walk(part)), part.path)
        for path, disk in self._surplus:
            limits = f"more than {_MOST_FILES} files or {_MOST_BYTES >> 20} MiB"
            self.note_unread(path, disk, f"too much was handed in, {limits}: {pluralize(self._more, 'file')} not read")

    def _walk(self, part: Part) -> Iterator[Entry]:
        """Yield the files of a handed-in folder on the disk, those of outer folders first.

        So a large inner folder cannot displace them. A part that is a single file or a link is yielded itself.
        """
        if part.path.is_symlink() or not part.path.is_dir():
            yield _entry_on_disk(part.name.parent, part.name.name, part.path)
            return
        left_out, todo = LeftOut(), deque([(part.path, ALL_OF_IT)])
        while todo:
            folder, inside = todo.popleft()
            listed = [row for row in self._names_in(folder, part.name / inside) if not is_junk(row[0])]
            for name, is_folder in listed:
                left_out.add(inside, name)
                if not is_folder and self._admit_candidate(name):
                    yield _entry_on_disk(part.name / inside, name, folder / name)
                elif not is_folder and may_be_code(name, self._is_answer):
                    self._count_unread(part.name / inside, name, folder)
            for name in (name for name, is_folder in listed if is_folder):
                if name.lower().endswith(PYTHON):  # its files are looked at all the same
                    self.note_unread(part.name / inside / name, folder / name, _FOLDER, always=True)
                where, why = left_out.path_and_reason(inside / name)
                if why and where is not None:
                    self.note_unread(part.name / where, folder / name, why, always=True)
                elif where is None and len(inside.parts) < DEEPEST:
                    todo.append((folder / name, inside / name))

    def _names_in(self, folder: Path, name: PurePosixPath) -> list[tuple[str, bool]]:
        """Return the names in a folder, each with a bool: True for a folder, False for a file.

        The list is empty if the folder cannot be read, which is noted, or after too many names were listed.

        Args:
            folder: the path of the folder on the disk.
            name: the path of the folder in what was handed in.
        """
        if self._names < 0:
            return []
        try:
            with os.scandir(folder) as scan:
                items = islice(scan, self._names + 1)  # one more than there may be
                listed = sorted((item.name, item.is_dir(follow_symlinks=False)) for item in items)
        except OSError as error:
            self.note_unread(name, folder, f"the folder cannot be read: {error.strerror}", always=True)
            return []
        self._names -= len(listed)
        if self._names < 0:
            why = f"too much was handed in, more than {_MOST_NAMES:,} files and folders: no others are looked at"
            self.note_unread(name, folder, why, always=True)
        return listed

    def _add_entries(
        self, entries: Iterable[Entry], place: Path, above: PurePosixPath = ALL_OF_IT, archive_depth: int = 0
    ) -> None:
        """Read the files of a folder or an archive, without those in left-out folders.

        Args:
            entries: the files: a list, or an iterator over a stream.
            place: the path on the disk of the folder or of the outermost archive.
            above: the path of the archive in what was handed in; `ALL_OF_IT` for a folder.
            archive_depth: the number of archives around the archive at `above`.
        """
        left_out = LeftOut()
        if isinstance(entries, list):  # all names are known beforehand
            for entry in entries:
                left_out.add(entry.folder, entry.name)
            entries = self._entries_in_order(entries, left_out)
        for entry in entries:
            left_out.add(entry.folder, entry.name)
            disk = entry.file or place
            where, why = left_out.path_and_reason(entry.folder)
            if why and where is not None:
                self.note_unread(above / where, disk, why, always=True)
            elif where is None:
                try:
                    self._add_file(above / entry.path, entry, disk, archive_depth)
                except SubmissionError as error:
                    self.note_unread(above / entry.path, disk, str(error))

    def _entries_in_order(self, entries: Iterable[Entry], left_out: LeftOut) -> Iterator[Entry]:
        """Yield the files of a folder or an archive, the most important first.

        So a limit on files and bytes cuts off the least important. Likely answers come before other code, and code
        before other files, of which only a few are yielded. One file of each left-out folder comes before all of these,
        so that the folder is noted.

        Args:
            entries: all files.
            left_out: the left-out folders, by all names.
        """
        seen = set[PurePosixPath]()
        code, others = list[Entry](), list[Entry]()
        for entry in entries:
            where, _ = left_out.path_and_reason(entry.folder)
            if where is None:
                (code if may_be_code(entry.name, self._is_answer) else others).append(entry)
            elif where not in seen:
                seen.add(where)
                yield entry
        yield from sorted(code, key=lambda one: (not self._is_answer(one.name), not is_code(one.name), one.depth_key))
        yield from sorted(others, key=lambda one: one.depth_key)[:_MOST_OTHERS]

    def _admit_candidate(self, name: str) -> bool:
        """Count a file by its name; return True unless too many of its kind came before.

        It is True for the first 1000 files of code, every likely answer, and the first 20 other files.
        """
        code = may_be_code(name, self._is_answer)
        self._seen[code] += 1
        return self._seen[code] <= (2 * _MOST_FILES if code else _MOST_OTHERS) or (code and self._is_answer(name))

    def _count_unread(self, folder: PurePosixPath, name: str, disk: Path) -> None:
        """Count a file that is not read because there are too many files.

        The note on their number names the first one.
        """
        self._surplus = self._surplus or [(folder / name, disk)]
        self._more += 1

    def _add_file(self, path: PurePosixPath, entry: Entry, disk: Path, archive_depth: int) -> None:
        """Add a file that is Python or a notebook to `files`.

        Of an archive, the files in it are added.

        Args:
            path: the path of the file in what was handed in.
            entry: the file.
            disk: the path on the disk of the file, or of the outermost archive that it is in.
            archive_depth: the number of archives around the one that the file is in; 0 for a file in a folder.

        Raises:
            SubmissionError: the file is not read; the error says why.
        """
        most, packed = most_bytes(path.name), bool(archive_suffix(path.name))
        if entry.why or not may_be_code(path.name, self._is_answer) or (is_packed(path.name) and not packed):
            raise SubmissionError(entry.why or _why_not_read(path))
        if packed and entry.file is not None:  # it is not read as a whole
            self._take_archive(path, entry.file, disk, archive_depth)
            return
        if self._bytes <= 0 or len(self.files) >= _MOST_FILES:
            self._count_unread(path.parent, path.name, disk)
            return
        data = entry.read(most + 1)
        self._bytes -= len(data)
        if len(data) > most:
            raise SubmissionError(f"it is larger than {most // 1024} KiB")
        if packed:
            self._take_archive(path, data, disk, archive_depth + 1)
            return
        if why := kinds.why_not_code(data):
            raise SubmissionError(why)
        is_notebook = kinds.is_notebook(data) or (
            path.name.lower().endswith(NOTEBOOK) and not kinds.defines_something(data)
        )
        if not is_notebook and len(data) > MOST_PYTHON:
            raise SubmissionError(f"it is larger than {MOST_PYTHON // 1024} KiB")
        if not is_notebook and not self._is_meant_as_code(path.name) and not kinds.defines_something(data):
            raise SubmissionError(_NEITHER)
        while path in self.files:  # two things of one author, laid side by side
            path = path.with_name(f"{path.stem} (1){path.suffix}")
        self.files[path], self.disk[path] = data, disk
        if is_notebook:
            self.notebooks.add(path)

    def _is_meant_as_code(self, name: str) -> bool:
        """Return whether a file's name claims that the file is code, as `double.py` does.

        So does `double.txt` for an exercise `double`. If the file is not code, its author should read why.
        """
        return is_code(name) or ("." in name and self._is_answer(name))

    def _take_archive(self, path: PurePosixPath, source: Path | bytes, disk: Path, archive_depth: int) -> None:
        self._archives += 1
        if self._keeps_archives_closed:
            raise SubmissionError(
                "it is not opened, because too much was handed in; hand in only the files of the exercises"
            )
        if archive_depth >= _ARCHIVES_DEEP or self._archives > _MOST_ARCHIVES:
            raise SubmissionError(f"it lies in {archive_depth} other archives, or is one of too many; hand in one zip")
        with entries(source, path.name, self._room) as inner:
            self._add_entries(inner, disk, path, archive_depth)

    def note_unread(self, path: PurePosixPath, disk: Path, why: str, *, always: bool = False) -> None:
        """Record that a file or a folder is not read, and why.

        It is recorded in `left` if it may have been an answer, else in `others`. After many of them, only likely
        answers are recorded.

        Args:
            path: the path of the file, as messages show it.
            disk: the path on the disk of the file, or of the archive that it is in.
            why: the reason.
            always: True to record it in `left` even if its name is not that of code, such as the name of a folder.
        """
        known = self.left if always or is_code(path.name) or self._is_answer(path.name) else self.others
        most = _MOST_OTHERS if known is self.others else _MOST_LEFT
        if len(known) < most or self._is_answer(path.name):
            self.disk[path] = disk
            known[path] = why


def _entry_on_disk(folder: PurePosixPath, name: str, path: Path) -> Entry:
    """Return the `Entry` of a file on this disk.

    Args:
        folder: the file's folder in what was handed in.
        name: the name of the file.
        path: the path of the file on the disk.
    """
    try:
        mode = path.lstat().st_mode
        why = _LINK if stat.S_ISLNK(mode) else "" if stat.S_ISREG(mode) else "it is not a regular file"
    except OSError as error:
        why = str(error.strerror)
    return Entry(folder, name, lambda: path.open("rb"), why, path)


def _why_not_read(path: PurePosixPath) -> str:
    if is_packed(path.name):
        return f"a {path.suffix.lower()} cannot be opened here; hand in a zip"
    return _NEITHER


# -- a class's download, on the disk -----------------------------------------------------------------------------------

_MOST_OF_CLASS = Room(names=5_000_000)
_MOST_ON_DISK = 96 << 20
_MOST_METADATA = 256 << 20
_LONGEST_TIME = 100
"""Of files of platforms."""

_FOR_ALL = {errno.ENOSPC, errno.EROFS, errno.EIO, errno.EMFILE, getattr(errno, "EDQUOT", errno.ENOSPC)}
"""What no other file would escape either."""


@dataclass
class _Share:
    """The files and bytes of one author that may still be written to the disk.

    Attributes:
        bytes: the number of further bytes.
        code: the number of further files that will be read.
        others: the number of further other files.
        folders: the left-out folders of which one file is written already.
        surplus: the first file that is not written.
        count: the number of files that are not written.
    """

    bytes: int = _MOST_ON_DISK
    code: int = 2 * _MOST_FILES
    others: int = _MOST_OTHERS
    folders: set[PurePosixPath] = field(default_factory=set)
    surplus: PurePosixPath | None = None
    count: int = 0

    def row(self) -> Iterator[Unmatched]:
        """Yield an `Unmatched` that counts the files of an author that were not written, if any."""
        if self.surplus is not None:
            limits = f"more than {2 * _MOST_FILES} files or {_MOST_ON_DISK >> 20} MiB"
            why = f"too much was handed in, {limits}: {pluralize(self.count, 'file')} not read"
            yield Unmatched(str(self.surplus), "", why)


def unpack(
    archive: Path,
    folder: Path,
    owners: Callable[[Sequence[PurePosixPath]], Sequence[str]],
    is_answer: Callable[[str], bool],
) -> Iterator[Unmatched]:
    """Write the files of a class's download into a folder; yield a row for each problem.

    Each author has a limited share of the disk, so that the files of one author leave room for those of the others. A
    file that is never read later is written empty. A file that is too large is cut at one byte above its limit.

    Args:
        archive: the path of the download.
        folder: an empty folder.
        owners: a function that returns the owner of each path in the download; "" for a file of the platform.
        is_answer: a function that says by a file's name if it is likely an answer, so that it is written before others.

    Raises:
        SubmissionError: the download cannot be read, or there is no room for it.
    """
    with entries(archive, archive.name, Room(_MOST_OF_CLASS.names, _MOST_OF_CLASS.unpacked)) as opened:
        listed, left_out, shares = list(opened), LeftOut(), dict[str, _Share]()
        for entry in listed:
            left_out.add(entry.folder, entry.name)
        whose = owners([entry.path for entry in listed])
        ranked = sorted(
            zip(listed, whose, strict=True), key=lambda row: (_rank_of_name(row[0].name, is_answer), row[0].depth_key)
        )
        for entry, owner in ranked:
            share = shares.setdefault(owner, _Share())
            try:
                data = _bytes_to_write(entry, share, left_out, is_answer, is_platforms=not owner)
            except SubmissionError as error:
                yield Unmatched(str(entry.path), "", str(error))
                data = b""
            if data is not None:
                yield from _write_file(folder, entry.path, data, archive.name)
        for share in shares.values():
            yield from share.row()


def _rank_of_name(name: str, is_answer: Callable[[str], bool]) -> int:
    """Return a sort key for file names: 0 for likely answers, 1 for code, 2 for the rest."""
    return 2 if not may_be_code(name, is_answer) else 1 - is_answer(name)


def _bytes_to_write(
    entry: Entry, share: _Share, left_out: LeftOut, is_answer: Callable[[str], bool], *, is_platforms: bool
) -> bytes | None:
    """Return the bytes of a file to write to the disk, and count them for its author.

    Args:
        entry: the file in the download.
        share: the files and bytes that may still be written for its author; this file is subtracted.
        left_out: the folders whose files are not read later.
        is_answer: a function that says by a file's name if it is likely an answer.
        is_platforms: True if the file is the platform's, so that nothing is subtracted.

    Returns:
        The bytes; b"" to write an empty file, and None to write no file.

    Raises:
        SubmissionError: the file cannot be read.
    """
    where, _ = left_out.path_and_reason(entry.folder)
    if where is not None:
        is_known = where in share.folders
        share.folders.add(where)
        return None if is_known else b""
    most = most_bytes(entry.name) if may_be_code(entry.name, is_answer) else _LONGEST_TIME * (entry.name == TIME)
    if is_platforms:
        most = _MOST_METADATA if entry.name in METADATA else most
        return entry.read(most + 1) if most else b""
    if not most:
        share.others -= 1
        return b"" if share.others >= 0 else None
    if share.code <= 0 or share.bytes <= 0:
        share.surplus, share.count = share.surplus or entry.path, share.count + 1
        return None
    data = entry.read(most + 1)
    share.code, share.bytes = share.code - 1, share.bytes - len(data)
    return data


def _write_file(folder: Path, path: PurePosixPath, data: bytes, name: str) -> Iterator[Unmatched]:
    """Write a file of a download; if that fails, yield a row about the file.

    Args:
        folder: the folder into which the download is unpacked.
        path: the path of the file in the download.
        data: the bytes to write.
        name: the file name of the download, for the error.

    Raises:
        SubmissionError: the disk is full or fails, so that no other file can be written, either.
    """
    target = folder.joinpath(*path.parts)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    except (OSError, ValueError) as error:  # a ValueError for a name that no file can have
        if isinstance(error, OSError) and error.errno in _FOR_ALL:
            raise SubmissionError(f"{name} cannot be unpacked into {folder}: {error.strerror}") from None
        yield Unmatched(str(path), "", f"it cannot be unpacked: {getattr(error, 'strerror', None) or error}")
