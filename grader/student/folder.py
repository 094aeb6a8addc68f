"""A student's folder: a course laid out and updated there, files restored, and how far the student is.

A digest of each file that was given out is saved. So an update compares three versions of a file: as it was given out,
as it is in the folder, and as the course has it now. It never overwrites what the student changed.

Another file has the last run, failed tries and hints of each exercise. It never stops a command: a damaged file is
replaced, and if none can be written, a sentence says so.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field, FiniteFloat, NonNegativeInt

from grader.course import layout
from grader.course.answers import starter_digest
from grader.course.load import load_course
from grader.course.topics import content_for_students
from grader.intake.collect import read_submission
from grader.model import Course, Exercise, GradedExercise, Report
from grader.model.errors import CourseError, FormatError
from grader.model.files import failing_as, from_json, to_json, write_whole
from grader.model.score import in_points
from grader.report.safe import for_terminal

CHANGED = "You have changed {name}. To restore it:  grade update"
"""What to do about a check file that is not as it was given out."""

_BESIDE = "The new version is beside it:"
_OLD = ".old"
_NOTE = "These files came from grade start. grade update compares with them, so leave this file where it is."
_VERSION = 1


# -- files that were given out


def start(source: Path, folder: Path) -> Course:
    """Copy a course's files for students into a folder, and load the course there.

    Args:
        source: the folder of the course.
        folder: a new or empty folder; files whose names begin with a dot, such as .git, may be in it already.

    Raises:
        CourseError: the folder has other files, or cannot be written to.
    """
    _refuse_used_folder(folder)
    texts = _read_student_files(load_course(source))
    with failing_as(f"{folder} cannot be written to", "choose another folder"):
        folder.mkdir(parents=True, exist_ok=True)
        # First: if this ends half-way, `grade update` knows what is missing.
        _save_digests(folder, {path: _digest(text) for path, text in texts.items()})
        for path, text in texts.items():
            _write(folder / path, text)
    return load_course(folder)


def _refuse_used_folder(folder: Path) -> None:
    if layout.is_student_folder(folder):
        where = f"{folder.resolve()} has the course already"
        raise CourseError(f"{where}: there,  grade next  continues, and  grade update  brings corrections")
    if os.path.lexists(folder) and not folder.is_dir():
        raise CourseError(f"{folder} is a file; choose a new name, such as {folder}-course")
    with failing_as(f"{folder} cannot be read", "choose another folder"):
        there = sorted(os.listdir(folder)) if folder.exists() else []
    if seen := [name for name in there if not name.startswith(".")]:
        what = f"{folder} is not empty (it has {seen[0]}{', ...' if seen[1:] else ''})"
        where = f"choose a new folder, such as {folder / 'tensors'}"
        raise CourseError(f"{what}, and grade start overwrites nothing; {where}")


def update(source: Path, folder: Path) -> list[str]:
    """Update a student's folder from a course, and return sentences on what was done.

    Files that the student changed stay, but for checks and descriptions (course.yaml, exercise.yaml): these become as
    the course has them, and the student's version is kept beside them. A file that the course does not have any more is
    removed, unless the student changed it.

    Raises:
        CourseError: `start` did not make the folder, or it cannot be written to.
    """
    if not layout.is_student_folder(folder):
        what = "has a course of its own" if layout.is_course(folder) else "has no course"
        raise CourseError(f"{folder} {what}, and was not made by  grade start; there is nothing to update")
    texts, originals = _read_student_files(load_course(source)), original_digests(folder)
    remedy = "your files are unchanged; fix this, then run  grade update  again"
    with failing_as(f"{folder} cannot be written to", remedy):
        paths = dict.fromkeys((*texts, *originals))
        done = [said for path in paths if (said := _update_file(folder, path, texts.get(path), originals.get(path)))]
        now = {path: _digest(text) for path, text in texts.items()}
        if now != originals:  # last: the next update finds what this one did not reach
            _save_digests(folder, now)
    if not done:
        return [
            "Your folder is up to date with the installed course. For a newer course, upgrade tensorgrade, then run  "
            "grade update."
        ]
    copied = " Copy what you want from the .new files, then delete them." if _BESIDE in "".join(done) else ""
    return [*done, f"Your own files are unchanged.{copied}"]


def _update_file(folder: Path, path: Path, text: bytes | None, original: str | None) -> str:
    """Update one file in a student's folder.

    Args:
        folder: the student's folder.
        path: the path of the file in this folder.
        text: the content of the file in the course now; None if the course has no such file.
        original: the digest of the file that was given out; None if none was.

    Returns:
        A sentence on what was done, such as "course.yaml is corrected"; "" if nothing was.
    """
    place, name, here = folder / path, path.as_posix(), _digest_of(folder / path)
    if text is None:
        if here == original:
            place.unlink()
            return f"{name} is removed: the course no longer has it"
        return f"{name} stays: the course no longer has it, but you changed it" if here else ""
    if here == _digest(text):
        return ""
    if here in ("", original):
        said = f"{name} is {'corrected' if here else 'new'}"
    elif layout.is_check_or_probe(path.name) or layout.is_description(path) or path.name == layout.COURSE_FILE:
        old = free_name(place)
        os.replace(place, old)
        said = f"{name} is restored; your version is beside it, as {old.name}"
    elif _digest(text) == original:
        return ""
    else:
        place = place.with_name(f"{path.name}.new")  # it is never graded
        said = f"You and the course both changed {name}. {_BESIDE} {place.name}"
    _write(place, text)
    return said


def is_behind(root: Path) -> bool:
    """Return whether the installed course has changed since it was copied into a folder.

    Only the copied files are compared.
    """
    source, originals = layout.bundled_course(), original_digests(root)
    return any(
        not (source / path).is_file() or _digest(content_for_students(source, path)) != originals[path]
        for path in originals
    )


def changed_checks(course: Course, exercise: Exercise) -> list[Path]:
    """Return the files of shown checks and probes that the student has changed.

    They are paths from the course's root, such as `exercises/01_making/passport/check_passport.py`. The result is empty
    outside a folder that `start` made, since only such a folder has the digests to compare with.
    """
    places, originals = layout.Places.of(exercise), original_digests(course.root)
    paths = (path for path in (places.shown_checks, places.probes[0]) if path in originals)
    return [path for path in paths if _digest_of(course.root / path) not in ("", originals[path])]


def original_digests(folder: Path) -> dict[Path, str]:
    """Return digests of the files that `start` or `update` copied, as they were then.

    It is a dict from the path of a file to 16 hexadecimal digits: `{Path("course.yaml"): "f39c2c21efe8c700"}`. It is
    empty if no digests can be read.
    """
    try:
        files = json.loads((folder / layout.GIVEN).read_text(encoding="utf-8"))["files"]
        digests = {Path(name): str(digest) for name, digest in files.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}
    # Files that the course no longer has are removed: none outside of the folder.
    return {path: digest for path, digest in digests.items() if not path.is_absolute() and ".." not in path.parts}


def _read_student_files(course: Course) -> dict[Path, bytes]:
    return {path: content_for_students(course.root, path) for path in layout.student_files(course)}


def _digest(text: bytes) -> str:
    # Line ends do not count: git and editors change them.
    return hashlib.sha256(text.replace(b"\r\n", b"\n")).hexdigest()[:16]


def _digest_of(path: Path) -> str:
    return _digest(path.read_bytes()) if path.is_file() else ""


def _save_digests(folder: Path, digests: Mapping[Path, str]) -> None:
    files = {path.as_posix(): digest for path, digest in digests.items()}
    write_whole(folder / layout.GIVEN, json.dumps({"note": _NOTE, "files": files}, indent=1) + "\n")


def _write(path: Path, text: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)


def must_keep_starters(course: Course) -> bool:
    """Return whether a course must keep copies of its starters in its own folder.

    In a folder that `start` made it need not: the installed course has the starters.
    """
    return layout.staff_root(course.root) == course.root


def save_starters(course: Course) -> None:
    """Copy each untouched starter to `.grade/starters`, from where it can be restored.

    A copy that is there stays. In a folder that `start` made nothing is copied, since the installed course has the
    starters.

    Raises:
        OSError: a copy cannot be written.
    """
    if not must_keep_starters(course):
        return
    copies = {item.id: layout.starter_copy(course.root, layout.Places.of(item)) for item in course.exercises}
    missing = [exercise for exercise in course.exercises if not copies[exercise.id].exists()]
    submission = read_submission(course.root, missing, author="") if missing else None
    for exercise in missing:
        if submission is not None and (own := submission.files_of(exercise)).untouched:
            make_own_folder(course.root)
            copies[exercise.id].parent.mkdir(exist_ok=True)
            copies[exercise.id].write_bytes(own.files[exercise.file_name])


def restore_starter(course: Course, exercise: Exercise) -> Iterator[str]:
    """Restore the starter of an exercise, and yield sentences on what was done.

    The student's file is kept beside it, and the student's tries are counted from 0 again.

    Raises:
        CourseError: the file is the starter already, there is no copy of the starter, or nothing can be written.
    """
    path, text = exercise.starter, starter_of(course, exercise)
    shown = layout.Places.of(exercise).starter
    if text is None:
        where = f"get {shown.as_posix()} from the person who gave you the course"
        raise CourseError(f"no copy of the starter of {exercise.id} is here; {where}")
    if path.is_file() and path.read_bytes() == text:
        raise CourseError(f"{shown.as_posix()} is the starter already; there is nothing to restore")
    there, old = os.path.lexists(path), free_name(path)
    with failing_as(f"{shown.as_posix()} cannot be restored"):
        if there:
            os.replace(path, old)
        _write(path, text)
    yield f"{typed_path(path)} is restored"
    if there:
        yield f"Your version is beside it, as {old.name}; it is not graded"
    progress = read_progress(course)
    if progress.of(exercise.id).tries:
        write_progress(course, progress.with_exercise(exercise.id, replace(progress.of(exercise.id), tries=0)))


def starter_of(course: Course, exercise: Exercise) -> bytes | None:
    """Return the starter of an exercise as it was given out; None if there is no copy of it."""
    path = layout.starter_copy(course.root, layout.Places.of(exercise))
    if not path.is_file():
        return None
    text, is_bundled = path.read_bytes(), layout.staff_root(course.root) != course.root
    # A copy in the student's folder that somebody changed is not the starter.
    return text if is_bundled or exercise.starter_digest in ("", starter_digest(text)) else None


def free_name(path: Path) -> Path:
    """Return a free path beside a file, at which another version of it can be kept.

    For `double.py` it is `double.py.old`, or `double.py.old1` if there is such a file. It does not end in .py, so no
    command reads it as Python.
    """
    names = (path.with_name(f"{path.name}{_OLD}{number or ''}") for number in range(1_000_000))
    return next(name for name in names if not os.path.lexists(name))


def typed_path(path: Path) -> str:
    """Return a path as a user would type it in the working folder.

    In `/home/ada`, `/home/ada/tensors/double.py` becomes "tensors/double.py". A path outside of the working folder is
    returned as it is.
    """
    here = Path.cwd()
    inside = path.resolve().is_relative_to(here)
    return for_terminal((path.resolve().relative_to(here) if inside else path).as_posix(), one_line=True)


# -- progress


@dataclass(frozen=True)
class ExerciseProgress:
    """A student's progress in one exercise.

    Attributes:
        state: the state after the last run, as in a report.
        earned: points, likewise.
        solved: True if some run had full marks.
        tries: runs that lost points, since the last that did not.
        hints: the number of hints that were shown.
    """

    state: Annotated[str, Field(pattern="^(not_started|started|shown_pass|done)$")] = "not_started"
    earned: FiniteFloat = 0.0
    solved: bool = False
    tries: NonNegativeInt = 0
    hints: NonNegativeInt = 0


@dataclass(frozen=True)
class CourseProgress:
    """A student's progress in a course, which reads its own JSON.

    Attributes:
        exercises: by exercise id; there may be none.
        last: the exercise that was graded last by itself, or "".
        problem: a sentence on why the file could not be read, or "".
        is_locked: True if the file is there and may not be read: it is not replaced.
    """

    exercises: Mapping[str, ExerciseProgress] = field(default_factory=dict)
    last: str = ""
    problem: str = ""
    is_locked: bool = False

    def of(self, id: str) -> ExerciseProgress:
        """Return the progress in one exercise, by its id."""
        return self.exercises.get(id, ExerciseProgress())

    def with_exercise(self, id: str, changed: ExerciseProgress) -> CourseProgress:
        """Return a copy of the progress in which one exercise is changed."""
        return replace(self, exercises={**self.exercises, id: changed})

    def after(self, report: Report) -> CourseProgress:
        """Return the progress after a run, with the states and points of its report."""
        now = self
        for graded in report.exercises:
            before = now.of(graded.exercise.id)
            if graded.state != "not_started" or before != ExerciseProgress():
                now = now.with_exercise(graded.exercise.id, _progress_after(before, graded))
        ran = [graded.exercise.id for graded in report.exercises if graded.checks]
        return replace(now, last=ran[0]) if len(ran) == 1 else now


def _progress_after(before: ExerciseProgress, graded: GradedExercise) -> ExerciseProgress:
    lost = graded.score.earned + graded.score.undecided < graded.score.possible
    tries = before.tries + (graded.state == "started" and lost)
    if graded.left_out:
        # Only some checks ran: that is a try, but it does not show the state of the exercise.
        return replace(before, tries=tries)
    done = graded.state == "done"
    earned = in_points(graded.score.earned)
    return ExerciseProgress(
        graded.state, earned, before.solved or done, 0 if graded.passes_here else tries, before.hints
    )


def read_progress(course: Course) -> CourseProgress:
    """Return the saved progress; if it cannot be read, an empty one whose `problem` says why."""
    path = layout.progress_path(course)
    where = path.relative_to(course.root).as_posix()
    try:
        return from_json(CourseProgress, path.read_bytes())
    except FileNotFoundError:
        return CourseProgress()
    except OSError as error:
        is_locked = os.path.lexists(path)
        remedy = "; make that file readable" if is_locked else ""
        return CourseProgress(
            problem=f"your progress cannot be read: {error.strerror} ({where}){remedy}", is_locked=is_locked
        )
    except FormatError:
        where = path.relative_to(course.root).as_posix()
        return CourseProgress(problem=f"{where} was damaged, so your progress starts from zero")


def write_progress(course: Course, progress: CourseProgress) -> str:
    """Save the progress; return a sentence on why that failed, or "".

    The file is replaced in one step.
    """
    if progress.is_locked:
        return f"{progress.problem}. Until then nothing is saved"
    path = layout.progress_path(course)
    saved = {"version": _VERSION, "last": progress.last, "exercises": progress.exercises}
    try:
        make_own_folder(course.root)
        write_whole(path, to_json(saved, indent=1) + b"\n")
    except OSError as error:
        return f"your progress is not saved: {error.strerror} ({path.relative_to(course.root).as_posix()})"
    return ""


def make_own_folder(root: Path) -> Path:
    """Make the folder `.grade` for the student's own data, and return its path.

    A .gitignore keeps its files out of the student's repository.

    Raises:
        OSError: the folder cannot be made.
    """
    folder = layout.state_folder(root)
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="ascii")
    return folder
