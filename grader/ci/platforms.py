"""The platforms that grade: which options their files use, where a job finds what it installs, what to do then.

It imports nothing, because the help of `grade init-ci` names them. Their files are in `templates/`.
"""

from __future__ import annotations

from typing import NamedTuple

_COMMIT = "Commit them to the students' repository or its template; docs/ci.md says what its score is worth."
_CLASS = "Commit them to the private repository of the course, fill class.txt, set the secret CLASS_TOKEN."
_OF_STUDENTS, _OF_CLASS = ("handin", "fail_below"), ("handin", "confinement")


class Kind(NamedTuple):
    """One platform.

    Attributes:
        uses: the options that its files use, besides `--package`.
        then: what to do with the files.
        install: the folder of what a job installs: the requirement, the versions of all packages, and a wheel.
        secret: where the secret lies that all inputs come from: beside the hidden checks, which no student sees either.
    """

    uses: tuple[str, ...]
    then: str
    install: str = ".ci/grade"
    secret: str = ""


PLATFORMS = {
    "github": Kind(_OF_STUDENTS, _COMMIT, ".github/grade"),
    "gitlab": Kind(_OF_STUDENTS, _COMMIT, ".gitlab/grade"),
    **dict.fromkeys(("jenkins", "azure", "circleci"), Kind(_OF_STUDENTS, _COMMIT)),
    "github-class": Kind(_OF_CLASS, _CLASS, ".github/grade"),
    "gitlab-class": Kind(_OF_CLASS, _CLASS, ".gitlab/grade"),
    "devcontainer": Kind(
        (),
        "Commit them to the students' repository: an editor that opens it there has the grader.",
        ".devcontainer/grade",
    ),
    "gradescope": Kind(
        _OF_CLASS,
        "These are the programs alone;  grade package gradescope  makes the zip to upload, course and all.",
        "install",
        "secret.txt",
    ),
    "prairielearn": Kind(
        _OF_CLASS,
        "Copy the course to grader/course, build grader/Dockerfile, and name the image in info.json.",
        "grader/install",
        "grader/secret.txt",
    ),
}
