"""`grade new`: lays out a course or an exercise that passes `grade verify`, except for what its author must write."""

from __future__ import annotations

import json
import keyword
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from grader.course import templates
from grader.course.layout import COURSE_FILE, SCHEMAS, TOPICS, Places, page_of
from grader.course.listing import as_yaml, with_exercise
from grader.course.load import load_course
from grader.course.schema import schemas
from grader.course.starter import write_digest
from grader.model.errors import CourseError

_NAME = re.compile(r"[a-z0-9][a-z0-9_]*")


def new_course(root: Path) -> list[Path]:
    """Lay out a course without exercises.

    Raises:
        CourseError: there is a course already, or it cannot be written.
    """
    if (root / COURSE_FILE).exists():
        raise CourseError(f"{root / COURSE_FILE} exists; a course is not written over")
    title = root.resolve().name.replace("_", " ").capitalize()
    files = {
        root / COURSE_FILE: templates.COURSE.format(title=json.dumps(title)),
        root / TOPICS: templates.TOPICS,
        root / ".gitignore": ".grade/\n__pycache__/\n",
    }
    with _taken_back() as made:
        return _write(files | _schemas(root / SCHEMAS, schemas()), made)


def new_exercise(root: Path, name: str, files: Callable[[Places], dict[Path, str]] | None = None) -> list[Path]:
    """Lay out an exercise and list it in course.yaml.

    Args:
        root: the course.
        name: "module/exercise"; the module is made if it is new.
        files: what the exercise has besides its description, by path from the course; by default an example.

    Raises:
        CourseError: the name is not usable, the exercise exists, or something cannot be written.
    """
    module, _, id = name.partition("/")
    if not _NAME.fullmatch(module) or not _NAME.fullmatch(id):
        raise CourseError(f"{name!r} is not MODULE/EXERCISE in lower case, such as 02_memory/predict_strides")
    if problem := _no_module(id):
        raise CourseError(f"{id!r} {problem}: students import it by its name; choose another, such as my_{id}")
    course, places = load_course(root, whole=False), Places(module, id)
    listed = [*(item.id for item in course.exercises), *(item.id for item in course.broken)]
    for place in (places.shown, places.staff):
        if id in listed or (root / place).exists():
            where = COURSE_FILE if id in listed else place.as_posix()
            raise CourseError(f"the exercise {id} exists ({where}); choose another name, an id is unique in the course")
    title = id.replace("_", " ").capitalize()
    numbers = [exercise.number for exercise in course.exercises]
    fill = {"id": id, "title": title, "number": _next_number(module, numbers), "up": "../../../"}
    fill["yaml_title"] = as_yaml(title)
    readme = root / page_of(module)
    texts = (files or _example)(places) | {places.description: templates.EXERCISE}
    filled = {root / path: _fill(text, fill) for path, text in texts.items()}
    if not readme.exists():
        filled[readme] = f"# {module}\n\nTODO: one screen of prose that this module's exercises need.\n"
    if not (root / SCHEMAS).is_dir():
        filled |= _schemas(root / SCHEMAS, schemas())
    # With its line ends, which are somebody's choice. First, because it may refuse; last, because it is what counts.
    text = (root / COURSE_FILE).read_bytes().decode("utf-8")
    about = re.sub(r"^[0-9]+_", "", module).replace("_", " ").capitalize()
    text = with_exercise(text, module, about, id)
    with _taken_back() as made:
        written = _write(filled, made)
        _replace(root / COURSE_FILE, text)
    # Loaded anew, so that what was laid out is a course, and its digest is that of the file.
    for exercise in load_course(root, whole=False).exercises:
        if exercise.id == id:
            write_digest(exercise)
    return written


def _example(places: Places) -> dict[Path, str]:
    """An exercise about a function that doubles."""
    return {
        places.starter: templates.STARTER,
        places.shown_checks: templates.SHOWN_CHECKS,
        places.reference: templates.REFERENCE,
        places.hidden_checks: templates.HIDDEN_CHECKS,
        places.wrong / "changes_argument.py": templates.WRONG_ARGUMENT,
        places.wrong / "makes_floats.py": templates.WRONG_DTYPE,
        places.right / "adds_twice.py": templates.RIGHT,
    }


def write_schemas(folder: Path, others: Mapping[str, Any]) -> list[Path]:
    """Write the JSON Schemas of course.yaml and exercise.yaml, for editors that check while one types; and others."""
    return _write(_schemas(folder, {**schemas(), **others}), [])


def _schemas(folder: Path, by_name: Mapping[str, Any]) -> dict[Path, str]:
    return {folder / name: json.dumps(schema, indent=2) + "\n" for name, schema in by_name.items()}


def _write(files: dict[Path, str], made: list[Path]) -> list[Path]:
    """Write files; what was not there before, folders too, is added to `made`."""
    for path, text in files.items():
        missing = [folder for folder in (path, *path.parents) if not folder.exists()]
        made += reversed(missing)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(files)


@contextmanager
def _taken_back() -> Iterator[list[Path]]:
    """Files and folders that are removed again if what they belong to is not finished.

    Raises:
        CourseError: something could not be written.
    """
    made: list[Path] = []
    try:
        yield made
    except BaseException as error:  # Ctrl-C, too: nothing is left half-written
        for path in reversed(made):
            with suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()
        if isinstance(error, OSError):
            told = f"{error.filename} cannot be written ({error.strerror}); nothing was laid out"
            raise CourseError(f"{told}. Once that is mended, try again") from None
        raise


def _replace(path: Path, text: str) -> None:
    """Write a file in one step."""
    path = path.resolve()
    draft = path.with_name(f".{path.name}.new")
    try:
        draft.write_bytes(text.encode())
        draft.chmod(path.stat().st_mode)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _no_module(id: str) -> str:
    """Why a name cannot be that of a student's file, or ""."""
    if keyword.iskeyword(id):
        return "is a word of Python"
    if not id.isidentifier():
        return "is no name in Python"
    return "is a module of Python or PyTorch" if id in sys.stdlib_module_names | {"torch", "numpy", "grader"} else ""


def _fill(text: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text


def _next_number(module: str, numbers: list[str]) -> str:
    digits = re.match(r"[0-9]{1,2}", module)
    used = {int(number.split("-")[0]) for number in numbers}
    chapter = f"{int(digits[0]):02}" if digits else f"{max(used, default=0) + 1:02}"
    taken = [int(number.split("-")[1]) for number in numbers if number.startswith(f"{chapter}-")]
    return f"{chapter}-{max(taken, default=0) + 1}"
