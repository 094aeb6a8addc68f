"""The starter of an exercise, restored. What stood there is kept beside it."""

from __future__ import annotations

import os
from pathlib import Path

from grader.course.layout import Places, staff_root, starter_copy
from grader.course.starter import starter_digest
from grader.grading.grade import is_untouched
from grader.intake.collect import read_submission
from grader.model import Course, Exercise
from grader.model.errors import CourseError
from grader.model.files import write_whole
from grader.student.progress import ready_folder

_OLD = ".old"


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
        if files is not None and is_untouched(exercise, files):
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
