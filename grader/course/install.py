"""Where the grader of a course is installed from, and the lines that install it.

The name `tensorgrade` belongs to nobody on the public index, so that no line may leave it to an index to know it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from grader.course.layout import COURSE_FILE, released_files
from grader.lint.scope import imported_names
from grader.model import Course, Install
from grader.model.errors import CourseError
from grader.model.files import failing_as

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
"""PyTorch's own index of builds without CUDA. It has what PyTorch needs, and nothing else."""

_MISSING = (
    f"{COURSE_FILE}: install: is missing, so nobody could install the grader: no public index has the name "
    "tensorgrade. Write one of these three:",
    "install: {address: git+https://HOST/OWNER/NAME@TAG}, or the https address of a wheel",
    "install: {wheel: tensorgrade-VERSION-py3-none-any.whl}, a file beside course.yaml, which goes along with the "
    "copy;  pip wheel --no-deps FOLDER  makes it of a checkout",
    "install: {index: https://HOST/simple}, an index of your school that has the grader and all that it needs",
)


def require_install(course: Course) -> Install:
    """Return where the grader of a course is installed from, as course.yaml says.

    Raises:
        CourseError: course.yaml names no source, and the error says what to write; or the wheel does not exist.
    """
    if course.install is None:
        raise CourseError(*_MISSING)
    if course.install.wheel:
        wheel_bytes(course, course.install)
    return course.install


def wheel_bytes(course: Course, install: Install) -> bytes:
    """Return the content of the wheel that course.yaml names.

    Raises:
        CourseError: it cannot be read.
    """
    path = course.root / install.wheel
    if path.is_symlink() or not path.is_file():
        raise CourseError(
            f"{COURSE_FILE}: install.wheel: there is no file {install.wheel}; put it there (pip wheel --no-deps FOLDER "
            "makes it of a checkout), or fix the name"
        )
    with failing_as(f"{COURSE_FILE}: install.wheel: {install.wheel} cannot be read"):
        return path.read_bytes()


def pip_arguments(install: Install, up: str = "", packages: Sequence[str] = ()) -> list[str]:
    """Return the arguments of two or three `pip install` commands, one text for each.

    The first command installs PyTorch without CUDA, as in
    `"torch>=2.10" --index-url https://download.pytorch.org/whl/cpu`. The second one installs the grader, as in
    `"../tensorgrade-0.2.0-py3-none-any.whl"`, and the third one other packages.

    Args:
        install: the source from which the grader is installed.
        up: the path of the course's folder, relative to the folder where pip runs, such as "../"; "" if both are one.
        packages: the other packages; () for none.
    """
    # Two lines: an index of CPU builds lacks all other packages, so it cannot replace the usual one; and beside the
    # usual one it decides nothing, as pip takes the highest version of both. What is there already satisfies pip.
    torch = f'"torch{_torch_versions()}" --index-url {CPU_INDEX}'
    others = [" ".join(packages)] if packages else []
    if install.index:
        return [torch, f'"{install.requirement}" --index-url {install.index}', *others]
    grader = f'"{up or "./"}{install.wheel}"' if install.wheel else f'"tensorgrade @ {install.address}"'
    return [torch, grader, *others]


def other_packages(course: Course) -> list[str]:
    """Return the packages that files of students import and that the grader does not bring, such as "pandas".

    A package has the name by which pip knows it, if it is installed here, and else the name of its module.
    """
    paths = [path for path in released_files(course) if path.suffix == ".py"]
    own = {path.stem for path in paths} | {"grader", *sys.stdlib_module_names}
    modules = set[str]()
    for path in paths:
        with suppress(SyntaxError):  # `grade verify` reports it
            nodes = ast.walk(ast.parse((course.root / path).read_bytes()))
            modules |= {module.split(".")[0] for node in nodes for module, _ in imported_names(node).values()} - {""}
    known = metadata.packages_distributions()
    names = {known.get(module, [module])[0] for module in modules - own}
    needed = (Requirement(text) for text in metadata.requires("tensorgrade") or ())
    brought = {canonicalize_name(one.name) for one in needed if "extra" not in str(one.marker)}
    return sorted(name for name in names if canonicalize_name(name) not in brought)


def _torch_versions() -> str:
    """Return the versions of PyTorch that the grader requires, such as ">=2.10"."""
    needed = (Requirement(text) for text in metadata.requires("tensorgrade") or ())
    return next(str(requirement.specifier) for requirement in needed if requirement.name == "torch")
