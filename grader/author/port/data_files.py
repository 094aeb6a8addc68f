"""Data files that tests and student code read: their names in Python source, and their contents."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from grader.course.load import MOST_DATA_MB
from grader.lint.scope import CheckSource

_FILES = re.compile(
    r"torch\.load|numpy\.(load|loadtxt|genfromtxt|fromfile)|(pandas|polars|geopandas)\.read_\w+|(io\.)?open(_code)?"
    r"|PIL\.Image\.open|(matplotlib\.(pyplot|image)|imageio|skimage\.io)\.imread"
)
_NPY = b"\x93NUMPY"
_DATA = r"[\w-][\w.-]*(/[\w-][\w.-]*)*"
"""A name that `files:` of exercise.yaml takes."""


def files_read(text: str) -> list[str]:
    """Return the names of the files that Python source opens by a string literal.

    `pd.read_csv("./rows.csv")` reads `["rows.csv"]`. Each name is returned once.
    """
    source = CheckSource(ast.parse(text))
    calls = [node for node in source.nodes if isinstance(node, ast.Call) and reads_file(source, node)]
    return list(dict.fromkeys(name for name in map(first_literal, calls) if name))


def first_literal(call: ast.Call) -> str:
    """Return the string literal that is the first argument of a call, without "./"; else ""."""
    match call.args:
        case [ast.Constant(value=str() as name), *_]:
            return name.removeprefix("./")
    return ""


def reads_file(source: CheckSource, call: ast.Call) -> bool:
    """Return whether a call opens or loads a file."""
    reads = isinstance(call.func, ast.Attribute) and call.func.attr in ("read_text", "read_bytes")
    return reads or _FILES.fullmatch(source.import_path(call) or ast.unparse(call.func)) is not None


def _files_in_literals(text: str, folder: Path) -> Iterator[str]:
    """Yield the files of a folder whose names are string literals in Python source.

    The literals "data" and "x.csv" together also stand for the file "data/x.csv".
    """
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    texts = [node.value.removeprefix("./").rstrip("/") for node in nodes if isinstance(node.value, str)]
    texts = [name for name in dict.fromkeys(texts) if re.fullmatch(_DATA, name)]
    folders = ["", *(f"{name}/" for name in texts if (folder / name).is_dir())]
    for name in texts:
        yield from (f"{before}{name}" for before in folders if (folder / f"{before}{name}").is_file())


def read_data_files(
    folder: Path, *, named: Sequence[str] = (), listed: Sequence[str] = ()
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the data files of a folder, and sentences on those that are too large.

    Args:
        folder: the folder that has the tests.
        named: Python sources; files that their string literals name are read.
        listed: names of files and folders that the assignment itself lists; these are read, too.

    Returns:
        The contents of the files, and a sentence for each file that is left out. The keys of both dicts are the names
        under which student code reads the files.
    """
    names = [name for text in named for name in _files_in_literals(text, folder) if not name.endswith(".py")]
    for name in (name.removeprefix("./").rstrip("/") for name in listed):
        inside = sorted((folder / name).rglob("*")) if (folder / name).is_dir() else [folder / name]
        names += [path.relative_to(folder).as_posix() for path in inside if path.is_file()]
    names = [name for name in dict.fromkeys(names) if re.fullmatch(_DATA, name)]
    sizes = {name: (folder / name).stat().st_size for name in names if not name.endswith(".ipynb")}
    left_out: dict[str, str] = {}
    # Small files come along, whichever large one is beside them.
    for name in sorted(sizes, key=lambda each: sizes[each], reverse=True):
        if sum(sizes.values()) > MOST_DATA_MB << 20:
            left_out[name] = (
                f"{name!r} has {sizes.pop(name) / (1 << 20):.1f} MiB, and the files of an exercise may have "
                f"{MOST_DATA_MB} MiB together: it was not copied; put a smaller part of it into the exercise's "
                "folder, and list it under `files:`"
            )
    return {name: (folder / name).read_bytes() for name in sizes}, left_out


def holds_text(content: bytes) -> bool:
    """Return whether a data file is an array of NumPy that cannot be sent to student code, such as one of text."""
    if not content.startswith(_NPY):
        return False
    try:
        return np.load(io.BytesIO(content), mmap_mode=None).dtype.kind not in "biufc"
    except (ValueError, OSError):  # of objects, which NumPy does not load, or cut
        return True


def literals_for_student_code(checks: str) -> str:
    """Return the source of a list with the literals that checks pass to student code.

    For `student.load("rows.csv", 3)` it is `['rows.csv', 3]`. Data files that they name belong to the exercise.
    """
    calls = [node for node in ast.walk(ast.parse(checks)) if isinstance(node, ast.Call)]
    calls = [call for call in calls if ast.unparse(call.func).startswith("student.")]
    return repr([arg.value for call in calls for arg in call.args if isinstance(arg, ast.Constant)])
