"""Which exercises of a student's checkout were changed since a commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

from grader.ci.job import Checkout
from grader.course.layout import ARCHIVES, NOTEBOOK, PYTHON
from grader.model import Exercise, Submission
from grader.model.errors import GraderError

_GIT = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never")
"""A student's repository may name programs for git to run: git runs none of them, and fetches nothing."""


def changed_exercises(checkout: Checkout, submission: Submission, since: str) -> list[Exercise]:
    """The exercises in whose own file's folder Python, a notebook or a zip was committed since a commit.

    Raises:
        GraderError: git cannot say.
    """
    if set(since) == {"0"}:  # what GitHub and GitLab name before the first push of a branch
        return list(checkout.course.exercises)
    commit = _git(checkout.folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{since}^{{commit}}")
    if commit is None:
        why = f"--changed-since: git knows no commit {since!r} here"
        raise GraderError(f"{why}; fetch all of them (fetch-depth: 0), or leave it out")
    # Two commits, and not the files on disk: to compare those git may run filters that the repository names.
    names = _git(checkout.folder, "diff-tree", "-r", "--name-only", "--no-renames", "-z", "--relative", commit, "HEAD")
    if names is None:
        raise GraderError("--changed-since: git cannot compare here; leave it out to grade everything")
    changed = [Path(name) for name in names.split("\0") if name.lower().endswith((*PYTHON, NOTEBOOK, *ARCHIVES))]
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
