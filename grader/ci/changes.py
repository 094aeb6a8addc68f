"""Which exercises of a student's checkout were changed since a commit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from grader.ci.job import Checkout
from grader.course.layout import ARCHIVES, NOTEBOOK, PYTHON
from grader.model import Exercise, Submission
from grader.model.errors import CourseError
from grader.model.files import failing_as

_GIT = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never")
"""A student's repository may name programs for git to run: git runs none of them, and fetches nothing."""

_DEPTH = "fetch-depth: 0 on GitHub, GIT_DEPTH: 0 on GitLab"


def changed_exercises(checkout: Checkout, submission: Submission, since: str) -> list[Exercise]:
    """The exercises in whose own file's folder Python, a notebook or a zip was committed since a commit.

    Raises:
        CourseError: git cannot say, and why.
    """
    if set(since) == {"0"}:  # what GitHub and GitLab name before the first push of a branch
        return list(checkout.course.exercises)
    commit = _git(checkout.folder, "rev-parse", "--verify", "--end-of-options", f"{since}^{{commit}}")
    # Two commits, and not the files on disk: to compare those git may run filters that the repository names.
    names = _git(checkout.folder, "diff-tree", "-r", "--name-only", "--no-renames", "-z", "--relative", commit, "HEAD")
    changed = [Path(name) for name in names.split("\0") if name.lower().endswith((*PYTHON, NOTEBOOK, *ARCHIVES))]
    # With those above, as packages lie below; a file in the top folder itself has everything below it.
    folders = {folder for path in changed for folder in (path.parent, *path.parents[:-1])}
    paths = ((exercise, submission.of(exercise).path) for exercise in checkout.course.exercises)
    return [exercise for exercise, path in paths if path and path.relative_to(checkout.folder).parent in folders]


def _git(folder: Path, *words: str) -> str:
    """What git prints.

    Raises:
        CourseError: it fails.
    """
    environ = {**os.environ, "LC_ALL": "C"}
    with failing_as("--changed-since: git cannot be run", "leave it out to grade all"):
        ran = subprocess.run([*_GIT, *words], cwd=folder, capture_output=True, check=False, env=environ)
    if ran.returncode == 0:
        return ran.stdout.decode("utf-8", "surrogateescape").strip()
    said = ran.stderr.decode("utf-8", "replace")
    if "dubious ownership" in said:
        why = f"another user owns {folder}, so git does not read it; if you trust it, run  git config --global"
        raise CourseError(f"--changed-since: {why} --add safe.directory {folder}")
    if "not a git repository" in said:
        raise CourseError(f"--changed-since: {folder} is not in a git repository; leave it out to grade all")
    name = words[-1].removesuffix("^{commit}")
    if _git(folder, "rev-parse", "--is-shallow-repository") == "true":
        raise CourseError(f"--changed-since: this clone is shallow and lacks {name!r}; fetch all commits ({_DEPTH})")
    raise CourseError(f"--changed-since: git knows no commit {name!r} here; check the name, or leave it out")
