"""A folder → Submission: which files are whose, and for which exercise. Nothing in it is run or followed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from grader.course.layout import Places, is_course, is_ours
from grader.intake.packages import with_packages
from grader.model import Exercise, Submission
from grader.model.errors import SubmissionError

_MAX_FILE_BYTES = 1 << 20
_MAX_FILES = 50
_MAX_SIBLING_BYTES = 1 << 20  # all together
_DEEPEST = 5


def read_submission(folder: Path, exercises: Iterable[Exercise], author: str) -> Submission:
    """Read what a folder holds for the exercises.

    An exercise's file is looked for in the folder itself, in `<module>/<exercise>/` and in
    `exercises/<module>/<exercise>/`; in a course's own folder there first. Other Python files that lie beside it come
    along, and packages that it imports, so that a student's own modules can be imported.

    Args:
        folder: the submission, or the course itself.
        exercises: the exercises to look for.
        author: who handed it in.

    Raises:
        SubmissionError: the folder does not exist.
    """
    if not folder.is_dir():
        raise SubmissionError(f"{folder} is not a folder with a submission")
    files: dict[str, dict[str, bytes]] = {}
    paths: dict[str, Path] = {}
    problems: dict[str, str] = {}
    unread: dict[str, tuple[Path, ...]] = {}
    for exercise in exercises:
        name = exercise.file_name
        places = [folder / place for place in Places.of(exercise).as_handed_in(in_course=is_course(folder))]
        there = [place for place in places if os.path.lexists(place)]
        if not there:
            problems[exercise.id] = f"{name} is not among the submitted files"
            continue
        path = paths[exercise.id] = there[0]
        if there[1:]:
            unread[exercise.id] = tuple(there[1:])
        try:
            _refuse_links(folder, path)
            text = _read(path)
            files[exercise.id] = {name: text, **_siblings(path, text)}
        except SubmissionError as error:
            problems[exercise.id] = f"{name} cannot be read: {error}"
        except OSError as error:  # without the path, which is none of a student's business
            problems[exercise.id] = f"{name} cannot be read: {error.strerror}"
    return Submission(author, files, paths, problems, digest_of(files), unread, folder)


def _siblings(path: Path, text: bytes) -> dict[str, bytes]:
    found: dict[PurePosixPath, bytes] = {}
    room = _MAX_SIBLING_BYTES
    for other in _python_below(path.parent):
        if other == path or is_ours(other.name) or other.is_symlink() or not other.is_file():
            continue
        size = other.stat().st_size
        if size > room or len(found) >= _MAX_FILES:
            continue
        with contextlib.suppress(OSError):  # one that the submission does not need may be unreadable
            found[PurePosixPath(*other.relative_to(path.parent).parts)] = other.read_bytes()
            room -= size
    return with_packages(text, found)


def _python_below(folder: Path) -> Iterator[Path]:
    """Python files beside a file, and then those in folders, which a package is; links to folders are not followed."""
    for at, inner, names in os.walk(folder):
        here = Path(at)
        deep = len(here.relative_to(folder).parts)
        inner[:] = sorted(name for name in inner if name.isidentifier() and name != "__pycache__" and deep < _DEEPEST)
        yield from (here / name for name in sorted(names) if name.endswith(".py"))


def _refuse_links(folder: Path, path: Path) -> None:
    """A link anywhere on the way may lead out of the submission, to a neighbour's or to the solutions."""
    for part in (path, *path.parents):
        if part == folder:
            return
        if part.is_symlink():
            raise SubmissionError("there is a link on the way to it")


def _read(path: Path) -> bytes:
    """Read a regular file; never follow a link, which may point out of the submission."""
    mode = path.lstat()
    if not stat.S_ISREG(mode.st_mode):
        raise SubmissionError("it is not a regular file")
    if mode.st_size > _MAX_FILE_BYTES:
        raise SubmissionError(f"it is larger than {_MAX_FILE_BYTES // 1024} KiB")
    return path.read_bytes()


def digest_of(files: Mapping[str, Mapping[str, bytes]]) -> str:
    """A digest of all files of a submission."""
    digest = hashlib.sha256()
    for exercise in sorted(files):
        for name in sorted(files[exercise]):
            content = files[exercise][name]
            digest.update(f"{exercise}/{name}:{len(content)}:".encode("utf-8", "surrogateescape"))
            digest.update(content)
    return digest.hexdigest()
