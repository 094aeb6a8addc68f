"""The platforms that grade, and the files by which each does: workflows, images, an autograder, of `templates/`."""

from __future__ import annotations

import html
import json
import re
import shlex
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from grader.course.layout import pinned_versions, refuse_given, whole_course
from grader.grading.secret import new_secret
from grader.model import Course, HandIn
from grader.model.errors import CourseError
from grader.model.files import failing_as, write_whole

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
        (*_OF_CLASS, "hidden"),
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


PYTHON = "3.12"
UV = "0.13.8"
"""Installs PyTorch without CUDA on any system, from wherever that is had."""

PROGRAMS = ("run_autograder", "setup.sh", "grader/run.sh")
"""What a platform starts by itself."""

_TEMPLATES = Path(__file__).with_name("templates")

Files = dict[str, bytes]


@dataclass(frozen=True)
class Wishes:
    """What an instructor may choose.

    Attributes:
        package: how the grader is installed: a requirement, a git address, or a wheel, which is put beside the files.
        confinement: the least level of confinement; "" for that of `grade ci` or `grade batch`.
        handin: whose exercises count; None for all.
        fail_below: as `grade ci` has it; "" for its default.
        hidden: when Gradescope shows hidden checks; "" for the default of `grade ci`.
    """

    package: str
    confinement: str = ""
    handin: HandIn | None = None
    fail_below: str = ""
    hidden: str = ""

    @property
    def wheel(self) -> Path | None:
        """The file of the package, if it is one."""
        return Path(self.package) if self.package.endswith(".whl") and "://" not in self.package else None


def package_here() -> str:
    """This version of the grader, as the index has it that it was installed from.

    Raises:
        CourseError: it was installed from elsewhere, such as a folder of this machine.
    """
    # In a checkout there may be a second description of the package, which does not say where it came from.
    if any(installed.read_text("direct_url.json") for installed in metadata.distributions(name="tensorgrade")):
        raise CourseError(
            "this grader was not installed from an index. Say what a job installs: --package "
            "git+https://HOST/OWNER/NAME, or a wheel: pip wheel --no-deps FOLDER, then --package FILE.whl"
        )
    return f"tensorgrade=={metadata.version('tensorgrade')}"


def platform_files(platform: str, wishes: Wishes, course: Course | None = None) -> Files:
    """The files of a platform, by their paths; a course is needed where the platform asks for names of files.

    Raises:
        CourseError: the wheel cannot be read.
    """
    wheel, kind, handin = wishes.wheel, PLATFORMS[platform], wishes.handin
    id = handin.id if handin else ""
    words = {"confinement": wishes.confinement, "handin": id, "fail_below": wishes.fail_below}
    words |= {"hidden": wishes.hidden}
    given = [(name.replace("_", "-"), value) for name, value in words.items() if value and name in kind.uses]
    values = {"PYTHON": PYTHON, "UV": UV, "INSTALL": kind.install, "HANDIN": id}
    values |= {"CONFINEMENT": wishes.confinement or "full"}
    values |= {"WORDS": "".join(f" --{name} {shlex.quote(value)}" for name, value in given)}
    if course is not None:
        values |= _question(course, handin)
    templates = _TEMPLATES / platform
    paths = [path for path in sorted(templates.rglob("*")) if path.is_file()]
    files = {path.relative_to(templates).as_posix(): _filled(path, values) for path in paths}
    requirement = f"./{wheel.name}" if wheel is not None else wishes.package
    files[f"{kind.install}/requirements.txt"] = f"{requirement}\n".encode()
    files[f"{kind.install}/constraints.txt"] = pinned_versions()
    if wheel is not None:
        with failing_as(f"--package: {wheel} cannot be read"):
            files[f"{kind.install}/{wheel.name}"] = wheel.read_bytes()
    if kind.secret:
        files[kind.secret] = new_secret().encode()
    if "fail_below" in kind.uses:  # a job in the student's checkout: git ignores its reports, so that none is committed
        files["grade-results/.gitignore"] = b"*\n!.gitignore\n"
    return files


def _filled(template: Path, values: Mapping[str, str]) -> bytes:
    """A template with each `@KEY@` replaced."""
    text = template.read_text(encoding="utf-8")
    return re.sub("@([A-Z_]+)@", lambda key: values[key[1]], text).encode("utf-8")


def _question(course: Course, handin: HandIn | None) -> Mapping[str, str]:
    """What PrairieLearn's question is about."""
    wanted = [item for item in course.exercises if handin is None or item.id in handin.exercises]
    title = handin.title if handin is not None else course.title
    names = html.escape(", ".join(item.file_name for item in wanted))
    return {"TITLE": html.escape(title), "NAMES": names, "JSON_TITLE": json.dumps(title), "UUID": str(uuid.uuid4())}


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
    with failing_as(f"the files cannot be written into {folder}", "name another folder"):
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_whole(folder / path, data)
            if path in PROGRAMS:
                (folder / path).chmod(0o755)
