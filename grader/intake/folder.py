"""A folder → Submission: which files are whose, and for which exercise. Nothing in it is run or followed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from grader.course.layout import Places, is_course, is_ours
from grader.model import Exercise, Submission
from grader.model.errors import SubmissionError

_MAX_FILE_BYTES = 1 << 20
_MAX_FILES = 50
_MAX_SIBLING_BYTES = 1 << 20  # all together


def read_submission(folder: Path, exercises: Iterable[Exercise], author: str) -> Submission:
    """Read what a folder holds for the exercises.

    An exercise's file is looked for in the folder itself, in `<module>/<exercise>/` and in
    `exercises/<module>/<exercise>/`; in a course's own folder there first. Other Python files that lie beside it come
    along, so that a student's own modules can be imported.

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
            files[exercise.id] = {name: text, **_siblings(path)}
        except SubmissionError as error:
            problems[exercise.id] = f"{name} cannot be read: {error}"
        except OSError as error:  # without the path, which is none of a student's business
            problems[exercise.id] = f"{name} cannot be read: {error.strerror}"
    return Submission(author, files, paths, problems, _digest(files), unread, folder)


def _siblings(path: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    room = _MAX_SIBLING_BYTES
    for other in sorted(path.parent.iterdir()):
        unwanted = other.suffix != ".py" or other == path or is_ours(other.name)
        if unwanted or other.is_symlink() or not other.is_file() or other.stat().st_size > room:
            continue
        with contextlib.suppress(OSError):  # one that the submission does not need may be unreadable
            found[other.name] = other.read_bytes()
            room -= len(found[other.name])
        if len(found) >= _MAX_FILES:
            break
    return found


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


def _digest(files: dict[str, dict[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for exercise in sorted(files):
        for name in sorted(files[exercise]):
            content = files[exercise][name]
            digest.update(f"{exercise}/{name}:{len(content)}:".encode("utf-8", "surrogateescape"))
            digest.update(content)
    return digest.hexdigest()
