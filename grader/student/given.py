"""A course laid out in a student's folder, and brought up to date there without touching the student's work.

What was given out is noted, as a digest of each file. So there are three sides to each file: what was given, what lies
there now, and what the course has now. What the student changed is never written over.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.course.layout import GIVEN, bundled_course, given_files, is_course
from grader.course.load import load_course
from grader.model import Course
from grader.model.errors import CourseError
from grader.model.files import write_whole

NEWER = ".new"
"""What is put behind the name of a file whose new version lies beside the student's. It is graded by nobody."""

_NOTE = "What grade start gave out. grade update compares with it, so keep it with your files."


@dataclass(frozen=True)
class Change:
    """What an update did with one file.

    Attributes:
        path: from the folder's root.
        kind: new, mended, gone (from the course, and removed here), kept (the student's; the new one lies beside) or
            orphan (the student's, and no longer of the course).
    """

    path: Path
    kind: str


def start(source: Path, folder: Path) -> Course:
    """Lay a course out in a new or empty folder.

    Args:
        source: the course.
        folder: where; files whose names begin with a dot, such as .git or .venv, may be there already.

    Raises:
        CourseError: something else is there, or nothing can be written.
    """
    _refuse_used(folder)
    course = load_course(source)
    texts = _texts(course)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # First: if this ends half-way, `grade update` knows what is missing.
        _note(folder, {path: _digest(text) for path, text in texts.items()})
        for path, text in texts.items():
            _put(folder / path, text)
    except OSError as error:
        raise CourseError(f"{folder} cannot be filled: {error.strerror}; choose a folder that is yours") from None
    return load_course(folder)


def _refuse_used(folder: Path) -> None:
    if (folder / GIVEN).is_file():
        where = "the course is here already" if folder.resolve() == Path.cwd() else f"{folder} has the course already"
        raise CourseError(f"{where}: there,  grade next  goes on, and  grade update  brings what is new")
    if os.path.lexists(folder) and not folder.is_dir():
        raise CourseError(f"{folder} is a file; choose a new name, such as {folder}-course")
    try:
        there = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    except OSError as error:
        raise CourseError(f"{folder} cannot be read: {error.strerror}; choose a folder that is yours") from None
    seen = [name for name in there if not name.startswith(".")]
    if seen:
        more = ", ..." if seen[1:] else ""
        raise CourseError(
            f"{folder} holds something else ({seen[0]}{more}), and nothing is written over; choose a new folder, "
            f"such as {folder / 'tensors'}"
        )


def update(source: Path, folder: Path) -> list[Change]:
    """Bring what a course mended to a folder that `start` made; what the student changed stays.

    Raises:
        CourseError: the folder was not made by `start`, or cannot be written to.
    """
    texts, given = _texts(load_course(source)), given_digests(folder)
    changes = []
    try:
        for path in (*texts, *(path for path in given if path not in texts)):
            kind = _kind(folder / path, texts.get(path), given.get(path))
            if kind in ("new", "mended"):
                _put(folder / path, texts[path])
            elif kind == "kept":
                _put(folder / f"{path}{NEWER}", texts[path])
            elif kind == "gone":
                (folder / path).unlink()
            if kind:
                changes.append(Change(path, kind))
        # Last: what was not reached is found again the next time.
        _note(folder, {path: _digest(text) for path, text in texts.items()})
    except OSError as error:
        told = f"{folder} cannot be written to: {error.strerror}; nothing of yours was changed"
        raise CourseError(f"{told}. Once that is mended, run  grade update  again") from None
    return changes


def _kind(path: Path, new: bytes | None, given: str | None) -> str:
    """What is to be done with one file, as in `Change`; "" for nothing."""
    if not os.path.lexists(path):
        return "new" if new is not None else ""
    here = _digest(path.read_bytes()) if path.is_file() else ""
    if new is None:
        return "gone" if here == given else "orphan"
    wanted = _digest(new)
    if here == wanted:
        return ""
    if here == given:
        return "mended"
    return "kept" if wanted != given else ""


def is_behind(root: Path) -> bool:
    """Whether a folder was made by `start` from a course that has changed since."""
    if not (root / GIVEN).is_file():
        return False
    source = bundled_course()
    given = given_digests(root)
    return any(not (path := source / name).is_file() or _digest(path.read_bytes()) != given[name] for name in given)


def given_digests(folder: Path) -> dict[Path, str]:
    """What was given out, by path; nothing where the note is damaged, so that all that differs is the student's.

    Raises:
        CourseError: the folder was not made by `start`.
    """
    try:
        files = json.loads((folder / GIVEN).read_text(encoding="utf-8"))["files"]
        found = {Path(name): str(digest) for name, digest in files.items()}
    except FileNotFoundError:
        what = "has a course of its own" if is_course(folder) else "has no course"
        raise CourseError(f"{folder} {what}, and was not made by  grade start; there is nothing to update") from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}
    return {path: digest for path, digest in found.items() if not path.is_absolute() and ".." not in path.parts}


def _texts(course: Course) -> dict[Path, bytes]:
    return {path: (course.root / path).read_bytes() for path in given_files(course)}


def _digest(text: bytes) -> str:
    # Line ends do not count: git and editors change them.
    return hashlib.sha256(text.replace(b"\r\n", b"\n")).hexdigest()[:16]


def _note(folder: Path, digests: Mapping[Path, str]) -> None:
    files = {path.as_posix(): digest for path, digest in digests.items()}
    write_whole(folder / GIVEN, json.dumps({"note": _NOTE, "files": files}, indent=1) + "\n")


def _put(path: Path, text: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)
