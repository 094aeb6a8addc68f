"""The files by which a platform grades: workflows, images, an autograder. Each is a template under `templates/`."""

from __future__ import annotations

import html
import json
import re
import shlex
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

from packaging.requirements import InvalidRequirement, Requirement

from grader.course.layout import pinned_versions, refuse_given, whole_course
from grader.grading.secret import new_secret
from grader.model import Course, HandIn
from grader.model.errors import CourseError
from grader.model.files import failing_as, write_whole
from grader.report.export.items import Visibility

PYTHON = "3.12"
UV = "0.13.8"
"""Installs PyTorch without CUDA on any system, from wherever that is had."""

SECRETS = {"gradescope": "secret.txt", "prairielearn": "grader/secret.txt"}
"""Where the secret lies that all inputs come from: beside the hidden checks, which no student sees either."""

PROGRAMS = ("run_autograder", "setup.sh")
"""What a platform starts by itself."""

Files = dict[str, bytes]

_TEMPLATES: Mapping[str, Mapping[str, str]] = {
    "github": {".github/workflows/grade.yml": "github.yml"},
    "github-class": {".github/workflows/grade-class.yml": "github-class.yml", "class.txt": "class.txt"},
    "gitlab": {".gitlab-ci.yml": "gitlab.yml"},
    "gitlab-class": {".gitlab-ci.yml": "gitlab-class.yml", "class.txt": "class.txt"},
    "jenkins": {"Jenkinsfile": "Jenkinsfile"},
    "azure": {"azure-pipelines.yml": "azure.yml"},
    "circleci": {".circleci/config.yml": "circleci.yml"},
    "devcontainer": {".devcontainer/devcontainer.json": "devcontainer.json"},
    "gradescope": {"setup.sh": "gradescope-setup.sh", "run_autograder": "gradescope-run_autograder"},
    "prairielearn": {
        "question.html": "prairielearn-question.html",
        "info.json": "prairielearn-info.json",
        "grader/Dockerfile": "prairielearn-Dockerfile",
        "grader/run.sh": "prairielearn-run.sh",
    },
}
PLATFORMS = tuple(_TEMPLATES)

_INSTALL = {
    "github": ".github/grade",
    "github-class": ".github/grade",
    "gitlab": ".gitlab/grade",
    "gitlab-class": ".gitlab/grade",
    "devcontainer": ".devcontainer/grade",
    "gradescope": "install",
    "prairielearn": "grader/install",
}
"""The folder of what a job installs: the requirement, the versions of all packages, and a wheel; else `.ci/grade`."""

_IN_CHECKOUT = ("github", "gitlab", "jenkins", "azure", "circleci")
"""Their jobs write into a folder of the student's checkout: git ignores it, so that no report is committed."""


@dataclass(frozen=True)
class Wishes:
    """What an instructor may choose.

    Attributes:
        package: how the grader is installed: a requirement, a git address, or a wheel, which is put beside the files.
        confinement: the least level of confinement; "" for that of `grade ci` or `grade batch`.
        hidden: when Gradescope shows hidden checks; "" where nothing asks.
        handin: whose exercises count; None for all.
        fail_below: as `grade ci` has it; "" for its default.

    Raises:
        CourseError: nothing can be installed from such a package.
    """

    package: str
    confinement: str = ""
    hidden: Visibility | Literal[""] = ""
    handin: HandIn | None = None
    fail_below: str = ""

    def __post_init__(self) -> None:
        """Refuse a package that no installer would find."""
        if self.wheel is not None or self.package.startswith("git+"):
            return
        try:
            Requirement(self.package)
        except InvalidRequirement:
            raise CourseError(
                f"--package: {self.package!r} is neither a requirement (tensorgrade==0.1.0) nor a git address "
                "(git+https://...) nor a wheel (FILE.whl)"
            ) from None

    @property
    def wheel(self) -> Path | None:
        """The file of the package, if it is one."""
        return Path(self.package) if self.package.endswith(".whl") and "://" not in self.package else None


def package_here() -> str:
    """How this grader itself was installed, so that a job installs the same.

    Raises:
        CourseError: it was installed from a folder of this machine.
    """
    # In a checkout there may be a second description of the package, which does not say where it came from.
    texts = (installed.read_text("direct_url.json") for installed in metadata.distributions(name="tensorgrade"))
    origin = json.loads(next(filter(None, texts), "{}"))
    url = origin.get("url")
    if url is None:
        return f"tensorgrade=={metadata.version('tensorgrade')}"
    if vcs := origin.get("vcs_info"):
        return f"tensorgrade @ {vcs['vcs']}+{url}@{vcs['commit_id']}"
    if url.endswith(".whl"):
        return url2pathname(urlsplit(url).path) if url.startswith("file:") else f"tensorgrade @ {url}"
    raise CourseError(
        "this grader was installed from a folder, which no job has. Say what a job installs: --package "
        "git+https://HOST/OWNER/NAME, or a wheel: pip wheel --no-deps FOLDER, then --package FILE.whl"
    )


def platform_files(platform: str, wishes: Wishes, course: Course | None = None) -> Files:
    """The files of a platform, by their paths; a course is needed where the platform asks for names of files.

    Raises:
        CourseError: the wheel cannot be read.
    """
    wheel, folder = wishes.wheel, _INSTALL.get(platform, ".ci/grade")
    values = {"PYTHON": PYTHON, "UV": UV, "INSTALL": folder, "WORDS": "".join(f" {word}" for word in _words(wishes))}
    values |= {"HANDIN": wishes.handin.id if wishes.handin else "", "CONFINEMENT": wishes.confinement or "full"}
    if platform == "prairielearn":
        assert course is not None
        values |= _question(course, wishes)
    files = {path: _filled(name, values) for path, name in _TEMPLATES[platform].items()}
    files[f"{folder}/requirements.txt"] = f"{f'./{wheel.name}' if wheel is not None else wishes.package}\n".encode()
    files[f"{folder}/constraints.txt"] = pinned_versions()
    if wheel is not None:
        with failing_as(f"--package: {wheel} cannot be read"):
            files[f"{folder}/{wheel.name}"] = wheel.read_bytes()
    if platform in SECRETS:
        files[SECRETS[platform]] = new_secret().encode()
    if platform in _IN_CHECKOUT:
        files["grade-results/.gitignore"] = b"*\n!.gitignore\n"
    return files


def _filled(name: str, values: Mapping[str, str]) -> bytes:
    """A template with each `@KEY@` replaced."""
    text = (resources.files("grader.ci") / "templates" / name).read_text(encoding="utf-8")
    return re.sub("@([A-Z_]+)@", lambda key: values[key[1]], text).encode("utf-8")


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


def _words(wishes: Wishes) -> Iterator[str]:
    """Further options of the command that grades."""
    handin = wishes.handin.id if wishes.handin is not None else ""
    options = {"confinement": wishes.confinement, "handin": handin, "hidden": wishes.hidden}
    for name, value in (options | {"fail-below": wishes.fail_below}).items():
        if value:
            yield f"--{name} {shlex.quote(value)}"


def _question(course: Course, wishes: Wishes) -> Mapping[str, str]:
    chosen = wishes.handin
    wanted = [item for item in course.exercises if chosen is None or item.id in chosen.exercises]
    title = chosen.title if chosen is not None else course.title
    names = html.escape(", ".join(item.file_name for item in wanted))
    return {"TITLE": html.escape(title), "NAMES": names, "JSON_TITLE": json.dumps(title), "UUID": str(uuid.uuid4())}
