"""The files by which a platform grades: workflows, images, an autograder. Each is a template under `templates/`."""

from __future__ import annotations

import html
import json
import shlex
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path

from grader.course.layout import refuse_given, whole_course
from grader.grading.secret import new_secret
from grader.model import Course, HandIn
from grader.model.errors import CourseError
from grader.model.files import write_whole, zip_bytes
from grader.report.export.items import Visibility

PYTHON = "3.12"
UV = "0.13.8"
"""Installs PyTorch without CUDA on any system, from wherever that is had."""

PLATFORMS = ("github", "github-class", "gitlab", "gradescope", "prairielearn")
SECRETS = {"gradescope": "secret.txt", "prairielearn": "grader/secret.txt"}
"""Where the secret lies that all inputs come from: beside the hidden checks, which no student sees either."""

PROGRAMS = ("run_autograder", "setup.sh")
"""What a platform starts by itself."""

Files = dict[str, bytes]

_TEMPLATES: Mapping[str, Mapping[str, str]] = {
    "github": {".github/workflows/grade.yml": "github.yml", ".github/grade-requirements.txt": "requirements.txt"},
    "github-class": {
        ".github/workflows/grade-class.yml": "github-class.yml",
        ".github/grade-requirements.txt": "requirements.txt",
        "class.txt": "class.txt",
    },
    "gitlab": {".gitlab-ci.yml": "gitlab.yml", ".gitlab/grade-requirements.txt": "requirements.txt"},
    "gradescope": {
        "setup.sh": "gradescope-setup.sh",
        "run_autograder": "gradescope-run_autograder",
        "requirements.txt": "requirements.txt",
    },
    "prairielearn": {
        "question.html": "prairielearn-question.html",
        "info.json": "prairielearn-info.json",
        "grader/Dockerfile": "prairielearn-Dockerfile",
        "grader/run.sh": "prairielearn-run.sh",
        "grader/requirements.txt": "requirements.txt",
    },
}


@dataclass(frozen=True)
class Wishes:
    """What an instructor may choose.

    Attributes:
        package: how the grader is installed: a requirement, or a wheel beside the files.
        confinement: the least level where hidden checks are; these platforms' containers give no namespaces.
        hidden: when Gradescope shows hidden checks.
        handin: whose exercises count; None for all.
    """

    package: str
    confinement: str = "reduced"
    hidden: Visibility = "after_published"
    handin: HandIn | None = None

    @classmethod
    def package_here(cls) -> str:
        """This very version."""
        return f"tensorgrade=={metadata.version('tensorgrade')}"


def platform_files(platform: str, wishes: Wishes, course: Course | None = None) -> Files:
    """The files of a platform, by their paths; a course is needed where the platform asks for names of files.

    A wheel that the wishes name comes along, where the files are not for a repository.
    """
    wheel = Path(wishes.package)
    values = {
        "PYTHON": PYTHON,
        "UV": UV,
        "TORCH": metadata.version("torch").partition("+")[0],
        "PACKAGE": f"./{wheel.name}" if wheel.suffix == ".whl" else wishes.package,
        "WORDS": shlex.join(_words(platform, wishes)),
    }
    if platform == "prairielearn":
        assert course is not None
        values |= _question(course, wishes)
    folder = resources.files("grader.ci") / "templates"
    files: Files = {}
    for path, name in _TEMPLATES[platform].items():
        text = (folder / name).read_text(encoding="utf-8")
        for key, value in values.items():
            text = text.replace(f"@{key}@", value)
        files[path] = text.encode("utf-8")
    if platform in SECRETS:
        files[SECRETS[platform]] = new_secret().encode()
    return files | _wheel(wheel, platform)


def package(course: Course, wishes: Wishes) -> Files:
    """The autograder of Gradescope: its files and the whole course.

    Raises:
        CourseError: the course has no solutions, or a file of it cannot be read.
    """
    refuse_given(course.root, "package")
    files = platform_files("gradescope", wishes)
    try:
        return files | {f"course/{path.as_posix()}": (course.root / path).read_bytes() for path in whole_course(course)}
    except OSError as error:
        raise CourseError(f"{error.filename} cannot be read: {error.strerror}") from None


def zipped(files: Files) -> bytes:
    """Files as one zip, in which the programs can be executed."""
    return zip_bytes(files, PROGRAMS)


def lay_out(files: Files, folder: Path) -> None:
    """Write files into a folder, all of them or none.

    Raises:
        CourseError: one of them is there already, or nothing can be written.
    """
    if there := [path for path in files if (folder / path).exists()]:
        raise CourseError(f"{folder / there[0]} is there already; remove it, or name another folder")
    try:
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_whole(folder / path, data)
            if path in PROGRAMS or path.endswith("run.sh"):
                (folder / path).chmod(0o755)
    except OSError as error:
        raise CourseError(f"{error.filename} cannot be written: {error.strerror}; name another folder") from None


def _words(platform: str, wishes: Wishes) -> Sequence[str]:
    """Further options of `grade ci`."""
    words = ["--confinement", wishes.confinement]
    if wishes.handin is not None:
        words += ["--handin", wishes.handin.id]
    return [*words, "--hidden", wishes.hidden] if platform == "gradescope" else words


def _question(course: Course, wishes: Wishes) -> Mapping[str, str]:
    chosen = wishes.handin
    wanted = [item for item in course.exercises if chosen is None or item.id in chosen.exercises]
    title = chosen.title if chosen is not None else course.title
    names = html.escape(", ".join(item.file_name for item in wanted))
    return {
        "TITLE": html.escape(title),
        "NAMES": names,
        "JSON_TITLE": json.dumps(title),
        "UUID": str(uuid.uuid4()),
    }


def _wheel(wheel: Path, platform: str) -> Files:
    if wheel.suffix != ".whl":
        return {}
    folder = {"gradescope": "", "prairielearn": "grader/"}.get(platform)
    if folder is None:
        raise CourseError("--package: a repository has no place for a wheel; name a version, or a git address")
    try:
        return {f"{folder}{wheel.name}": wheel.read_bytes()}
    except OSError as error:
        raise CourseError(f"--package: {wheel} cannot be read: {error.strerror}") from None
