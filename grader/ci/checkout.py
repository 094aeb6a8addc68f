"""A student's checkout: which course grades it, and what changed in it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from grader.course.layout import HANDED_IN, bundled_course, find_course, find_given, is_given
from grader.course.load import load_course
from grader.model import Course, Exercise, Submission
from grader.model.errors import CourseError, GraderError

_GIT = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never")
"""A student's repository may name programs that git is to run: none of them is run, and nothing is fetched."""


@dataclass(frozen=True)
class Checkout:
    """A checkout and the course that grades it.

    Attributes:
        folder: of the checkout, or of the part of it that is graded.
        course: with the checks.
        is_own: whether the checks are the checkout's own, so that its author can change them.
    """

    folder: Path
    course: Course
    is_own: bool


def open_checkout(folder: Path, course: Path | None) -> Checkout:
    """Find the course that grades a checkout.

    Args:
        folder: of the checkout.
        course: the course, outside of the checkout; None for the one that the checkout is a copy of.

    Raises:
        CourseError: there is none, or it lies where the student can change it.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise CourseError(f"--submission: {folder} is not a folder")
    if course is not None:
        root = find_course(course.resolve())
        if root == folder or folder in root.parents:
            raise CourseError(
                f"--course: {root} lies in the submission {folder}, where its author can change every check; "
                "check the course out beside it"
            )
        return Checkout(folder, load_course(root), is_own=False)
    if is_given(given := find_given(folder)):
        # The copy that `grade start` laid out is the student's; the course in our package is not.
        return Checkout(given, load_course(bundled_course()), is_own=False)
    try:
        root = find_course(folder)
    except CourseError:
        raise CourseError(f"there is no course in {folder}; name one that lies outside of it: --course DIR") from None
    return Checkout(root, load_course(root), is_own=True)


def changed_exercises(checkout: Checkout, submission: Submission, since: str) -> list[Exercise]:
    """The exercises in whose own file's folder Python, a notebook or a zip was committed since a commit.

    Raises:
        GraderError: git cannot tell.
    """
    commit = _git(checkout.folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{since}^{{commit}}")
    if commit is None:
        why = f"--changed-since: git knows no commit {since!r} here"
        raise GraderError(f"{why}; fetch all of them (fetch-depth: 0), or leave it out")
    # Two commits, and not the files on disk: to compare those git may run filters that the repository names.
    names = _git(checkout.folder, "diff-tree", "-r", "--name-only", "--no-renames", "-z", "--relative", commit, "HEAD")
    if names is None:
        raise GraderError("--changed-since: git cannot compare here; leave it out to grade everything")
    changed = [Path(name) for name in names.split("\0") if name.lower().endswith(HANDED_IN)]
    # With those above, as packages lie below; a file in the top folder itself has everything below it.
    folders = {folder for path in changed for folder in (path.parent, *path.parents[:-1])}
    own = {id: path.relative_to(checkout.folder).parent for id, path in submission.paths.items()}
    return [exercise for exercise in checkout.course.exercises if own.get(exercise.id) in folders]


def _git(folder: Path, *words: str) -> str | None:
    """What git prints; None where it fails."""
    try:
        ran = subprocess.run([*_GIT, *words], cwd=folder, capture_output=True, check=False)
    except OSError as error:
        raise GraderError(f"--changed-since: git cannot be run ({error.strerror}); leave it out to grade all") from None
    return ran.stdout.decode("utf-8", "surrogateescape").strip() if ran.returncode == 0 else None
