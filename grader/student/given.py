"""A course in a student's folder: laid out, brought up to date without touching the student's work, a starter restored.

What was given out is noted, as a digest of each file. So there are three sides to each file: what was given, what lies
there now, and what the course has now. What the student changed is never written over.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.course.layout import GIVEN, Places, bundled_course, given_files, is_course, staff_root, starter_copy
from grader.course.load import load_course
from grader.course.starter import starter_digest
from grader.intake.collect import read_submission
from grader.model import Course, Exercise
from grader.model.errors import CourseError
from grader.model.files import write_whole
from grader.student.pages import typed
from grader.student.progress import read_progress, ready_folder, write_progress

NEWER = ".new"
"""What is put behind the name of a file whose new version lies beside the student's. It is graded by nobody."""

_OLD = ".old"
_WORDS = {
    "new": "new",
    "mended": "mended",
    "gone": "removed, it is no longer of the course",
    "orphan": "yours, it is no longer of the course",
}
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


def update_sentences(changes: Sequence[Change]) -> Iterator[str]:
    """What an update did, in words."""
    for change in changes:
        name = change.path.as_posix()
        words = _WORDS.get(change.kind)
        newer = f"you changed it and so did the course; the new one is beside it, {change.path.name}{NEWER}"
        yield f"{name}: {words or newer}"
    if not changes:
        yield "Nothing is new. To get a newer course, install a newer tensorgrade first."
    elif any(change.kind == "kept" for change in changes):
        yield "Your files are as they were. Take over what you like from the new ones, then delete those."
    else:
        yield "Your own files are as they were."


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


def keep_starters(course: Course) -> None:
    """Keep the starters that nobody has touched, where no other copy of them is at hand.

    Raises:
        OSError: they cannot be written.
    """
    if staff_root(course.root) != course.root:
        return  # the bundled course has them
    missing = [item for item in course.exercises if not starter_copy(course.root, Places.of(item)).exists()]
    files = read_submission(course.root, missing, author="") if missing else None
    for exercise in missing:
        if files is not None and exercise.id in files.untouched:
            copy = starter_copy(course.root, Places.of(exercise))
            ready_folder(course.root)
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(files.files[exercise.id][exercise.file_name])


def reset(course: Course, exercise: Exercise) -> Path | None:
    """Restore a starter; give where the old file is now, or None if there was none.

    Raises:
        CourseError: the file is the starter already, no copy of that is here, or nothing can be written.
    """
    path, text = exercise.starter, starter_of(course, exercise)
    shown = Places.of(exercise).starter.as_posix()
    if text is None:
        raise CourseError(f"no copy of the starter of {exercise.id} is here; take {shown} from whom you got the course")
    try:
        if path.is_file() and path.read_bytes() == text:
            raise CourseError(f"{shown} is the starter already; there is nothing to restore")
        old = free_name(path) if os.path.lexists(path) else None
        if old is not None:
            os.replace(path, old)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.decode("utf-8"))
    except OSError as error:
        raise CourseError(f"{shown} cannot be restored: {error.strerror}") from None
    return old


def reset_sentences(course: Course, exercise: Exercise) -> Iterator[str]:
    """Restore a starter, and say so; tries are counted anew."""
    old = reset(course, exercise)
    yield f"{typed(exercise.starter)} is the starter again"
    if old is not None:
        yield f"What was there is beside it, {old.name}, and is not graded"
    progress = read_progress(course)
    write_progress(course, progress.with_(exercise.id, replace(progress.of(exercise.id), tries=0)))


def starter_of(course: Course, exercise: Exercise) -> bytes | None:
    """The starter of an exercise as it was given out; None where no copy of it is at hand."""
    path = starter_copy(course.root, Places.of(exercise))
    text = path.read_bytes() if path.is_file() else None
    # A copy that somebody changed is none.
    wanted = exercise.starter_digest
    bundled = staff_root(course.root) != course.root
    return text if text is None or bundled or not wanted or starter_digest(text) == wanted else None


def free_name(path: Path) -> Path:
    """A name beside a file that is not taken, and that no command takes for Python."""
    names = (path.with_name(f"{path.name}{_OLD}{number or ''}") for number in range(1_000_000))
    return next(name for name in names if not os.path.lexists(name))
