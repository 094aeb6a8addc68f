"""The files by which each platform grades, made from `templates/`: workflows, images, an autograder."""

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
from urllib.parse import urlsplit
from urllib.request import url2pathname

from packaging.requirements import InvalidRequirement, Requirement

from grader.course.install import require_install
from grader.course.layout import constraints_content, course_files, refuse_student_folder
from grader.grading.secret import new_secret
from grader.model import Course, HandIn
from grader.model.errors import CourseError
from grader.model.files import failing_as, write_whole

_COMMIT = "Commit them to the students' repository or its template; docs/ci.md says what its score is worth."
_CLASS = "Commit them to the private repository of the course, fill class.txt, set the secret CLASS_TOKEN."
_OF_STUDENTS, _OF_CLASS = ("handin", "fail_below"), ("handin", "confinement")


class PlatformFiles(NamedTuple):
    """The facts about one platform that its files depend on.

    Attributes:
        uses: the options that its files use, besides `--package`.
        then: a sentence on what to do with the files.
        install: the folder of what a job installs: the requirement, the versions of all packages, and a wheel.
        secret: the path of the secret that all inputs come from, beside the hidden checks, which no student sees, too.
    """

    uses: tuple[str, ...]
    then: str
    install: str = ".ci/grade"
    secret: str = ""


PLATFORMS = {
    "github": PlatformFiles(_OF_STUDENTS, _COMMIT, ".github/grade"),
    "gitlab": PlatformFiles(_OF_STUDENTS, _COMMIT, ".gitlab/grade"),
    **dict.fromkeys(("jenkins", "azure", "circleci"), PlatformFiles(_OF_STUDENTS, _COMMIT)),
    "github-class": PlatformFiles(_OF_CLASS, _CLASS, ".github/grade"),
    "gitlab-class": PlatformFiles(_OF_CLASS, _CLASS, ".gitlab/grade"),
    "devcontainer": PlatformFiles(
        (),
        "Commit them to the students' repository: an editor that opens it there has the grader.",
        ".devcontainer/grade",
    ),
    "classroom50": PlatformFiles(
        ("handin",),
        "Put them into the assignment's folder, beside course, a copy that  grade release  made: it is published.",
        "install",
    ),
    "gradescope": PlatformFiles(
        (*_OF_CLASS, "hidden"),
        "These are the programs only;  grade package gradescope  makes the zip to upload, with the course.",
        "install",
        "secret.txt",
    ),
    "prairielearn": PlatformFiles(
        _OF_CLASS,
        "Copy the course to grader/course, build grader/Dockerfile, and name the image in info.json.",
        "grader/install",
        "grader/secret.txt",
    ),
}


PYTHON = "3.12"
UV = "0.13.8"
"""Installs PyTorch without CUDA on any system, from wherever that is had."""

PROGRAMS = ("run_autograder", "setup.sh", "grade.sh", "grader/run.sh")
"""What a platform starts by itself."""

_TEMPLATES = Path(__file__).with_name("templates")

Files = dict[str, bytes]


@dataclass(frozen=True)
class JobOptions:
    """The options of an instructor.

    Attributes:
        package: the source of the grader: a requirement, a git address, or a wheel, which is put beside the files.
        index: the index that has such a requirement, in place of the one that the job uses; "" for that one.
        confinement: the least level of confinement; "" for that of `grade ci` or `grade batch`.
        handin: the hand-in whose exercises count; None for all.
        fail_below: the option `--fail-below` of `grade ci`; "" for its default.
        hidden: the time from which Gradescope shows hidden checks; "" for the default of `grade ci`.

    Raises:
        CourseError: nothing can be installed from such a package.
    """

    package: str
    confinement: str = ""
    handin: HandIn | None = None
    fail_below: str = ""
    hidden: str = ""
    index: str = ""

    def __post_init__(self) -> None:
        """Refuse a package that no installer would find."""
        if self.wheel is not None or self.package.startswith("git+"):
            return
        try:
            Requirement(self.package)
        except InvalidRequirement:
            raise CourseError(
                f"--package: {self.package!r} is neither a git address (git+https://...) nor a wheel (FILE.whl) nor a "
                "requirement (tensorgrade @ https://.../tensorgrade-0.1.0-py3-none-any.whl)"
            ) from None

    @property
    def wheel(self) -> Path | None:
        """Return the path of the package if it is a wheel on this disk; else None.

        `dist/tensorgrade-0.1.0-py3-none-any.whl` is one, and the https address of a wheel is not.
        """
        return Path(self.package) if self.package.endswith(".whl") and "://" not in self.package else None

    @property
    def requirements(self) -> bytes:
        """Return the content of the requirements.txt from which a job installs the grader.

        For a wheel it is `./tensorgrade-0.1.0-py3-none-any.whl`. With an index, a line such as
        `--index-url https://pypi.example.org/simple` comes first.
        """
        index = f"--index-url {self.index}\n" if self.index else ""
        return f"{index}{f'./{self.wheel.name}' if self.wheel else self.package}\n".encode()


def grader_package(course: Course | None) -> tuple[str, str]:
    """Return what a job installs as the grader, and the package index for it.

    An example is `("tensorgrade>=0.1", "https://pypi.example.org/simple")`. course.yaml says both. If it does not, a
    job installs what is installed here. The index is "" if none is needed.

    Raises:
        CourseError: neither course.yaml nor this installation names anything that a job can install.
    """
    if course is None or course.install is None:
        return package_here(), ""
    install = require_install(course)
    if install.wheel:
        return str(course.root / install.wheel), ""
    return (install.requirement, install.index) if install.index else (f"tensorgrade @ {install.address}", "")


def package_here() -> str:
    """Return the wheel or the address that this grader was installed from.

    A job installs the same. An address is `tensorgrade @ git+https://HOST/OWNER/NAME@COMMIT`, for example.

    Raises:
        CourseError: it was installed from a place that no job has, or from an index; installers do not record which
            index.
    """
    # In a checkout there may be a second description of the package, which does not say where it came from.
    texts = (installed.read_text("direct_url.json") for installed in metadata.distributions(name="tensorgrade"))
    origin = json.loads(next(filter(None, texts), "{}"))
    url = origin.get("url", "")
    is_public = urlsplit(url).scheme in ("https", "ssh")
    if is_public and (vcs := origin.get("vcs_info")):
        return f"tensorgrade @ {vcs['vcs']}+{url}@{vcs['commit_id']}"
    if url.endswith(".whl"):
        return url2pathname(urlsplit(url).path) if url.startswith("file:") else f"tensorgrade @ {url}"
    why = "from a place that no job has" if url else "by its name, and no installer records from which index"
    raise CourseError(
        f"this grader was installed {why}. Say what a job installs, as install in course.yaml, or: --package "
        "git+https://HOST/OWNER/NAME, or a wheel: pip wheel --no-deps FOLDER, then --package FILE.whl"
    )


def platform_files(platform: str, options: JobOptions, course: Course | None = None) -> Files:
    """Return the files that a CI platform needs, by path.

    For "github" these are `.github/workflows/grade.yml`, `requirements.txt` and `constraints.txt` in `.github/grade`,
    and `grade-results/.gitignore`.

    Args:
        platform: its name, as `grade init-ci` takes it.
        options: the options.
        course: the course; some platforms ask for the names of its files.

    Raises:
        CourseError: the wheel cannot be read.
    """
    wheel, kind, handin = options.wheel, PLATFORMS[platform], options.handin
    id = handin.id if handin else ""
    words = {"confinement": options.confinement, "handin": id, "fail_below": options.fail_below}
    words |= {"hidden": options.hidden}
    given = [(name.replace("_", "-"), value) for name, value in words.items() if value and name in kind.uses]
    values = {"PYTHON": PYTHON, "UV": UV, "INSTALL": kind.install, "HANDIN": id}
    values |= {"CONFINEMENT": options.confinement or "full"}
    values |= {"WORDS": "".join(f" --{name} {shlex.quote(value)}" for name, value in given)}
    if course is not None:
        values |= _question_values(course, handin)
    templates = _TEMPLATES / platform
    # Installers compile what they install, the Python among the templates as well.
    paths = [path for path in sorted(templates.rglob("*")) if path.is_file() and path.suffix != ".pyc"]
    files = {path.relative_to(templates).as_posix(): _fill_template(path, values) for path in paths}
    files[f"{kind.install}/requirements.txt"] = options.requirements
    files[f"{kind.install}/constraints.txt"] = constraints_content()
    if wheel is not None:
        with failing_as(f"--package: {wheel} cannot be read"):
            files[f"{kind.install}/{wheel.name}"] = wheel.read_bytes()
    if kind.secret:
        files[kind.secret] = new_secret().encode()
    if "fail_below" in kind.uses:  # a job in the student's checkout: git ignores its reports, so that none is committed
        files["grade-results/.gitignore"] = b"*\n!.gitignore\n"
    return files


def _fill_template(template: Path, values: Mapping[str, str]) -> bytes:
    """Return the text of a template with each `@KEY@` replaced by its value.

    With `{"PYTHON": "3.12"}`, `python:@PYTHON@` becomes `python:3.12`.
    """
    text = template.read_text(encoding="utf-8")
    return re.sub("@([A-Z_]+)@", lambda key: values[key[1]], text).encode("utf-8")


def _question_values(course: Course, handin: HandIn | None) -> Mapping[str, str]:
    """Return what the template of a PrairieLearn question is filled with, by key.

    An example is `{"TITLE": "Tensors", "NAMES": "double.py, half.py", "JSON_TITLE": '"Tensors"', "UUID": "..."}`, with
    a new UUID.
    """
    wanted = [item for item in course.exercises if handin is None or item.id in handin.exercises]
    title = handin.title if handin is not None else course.title
    names = html.escape(", ".join(item.file_name for item in wanted))
    return {"TITLE": html.escape(title), "NAMES": names, "JSON_TITLE": json.dumps(title), "UUID": str(uuid.uuid4())}


def autograder_files(course: Course, options: JobOptions) -> Files:
    """Return the files of Gradescope's autograder, by path: its programs and the whole course.

    Raises:
        CourseError: the course has no solutions, or a file of it cannot be read.
    """
    refuse_student_folder(course.root, "package")
    files = platform_files("gradescope", options)
    try:
        return files | {f"course/{path.as_posix()}": (course.root / path).read_bytes() for path in course_files(course)}
    except OSError as error:
        raise CourseError(f"{error.filename} cannot be read: {error.strerror}") from None


def write_all(files: Files, folder: Path) -> None:
    """Write files into a folder; write none if one of them is there already.

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
