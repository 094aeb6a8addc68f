"""`grade new`: lays out a course or an exercise that passes `grade verify`, except for what its author must write."""

from __future__ import annotations

import json
import re
from pathlib import Path

from grader.course import templates
from grader.course.layout import COURSE_FILE, SCHEMAS, TOPICS, Places, page_of
from grader.course.load import load_course
from grader.course.schema import schemas
from grader.course.starter import write_digest
from grader.model.errors import CourseError

_NAME = re.compile(r"[a-z0-9][a-z0-9_]*")


def new_course(root: Path) -> list[Path]:
    """Lay out a course without exercises.

    Raises:
        CourseError: there is a course already.
    """
    if (root / COURSE_FILE).exists():
        raise CourseError(f"{root / COURSE_FILE} exists; a course is not written over")
    title = root.resolve().name.replace("_", " ").capitalize()
    files = {
        root / COURSE_FILE: templates.COURSE.format(title=json.dumps(title)),
        root / TOPICS: templates.TOPICS,
        root / ".gitignore": ".grade/\n__pycache__/\n",
    }
    return [*_write(files), *write_schemas(root / SCHEMAS)]


def new_exercise(root: Path, name: str) -> list[Path]:
    """Lay out an exercise and list it in course.yaml.

    Args:
        root: the course.
        name: "module/exercise"; the module is made if it is new.

    Raises:
        CourseError: the name is not usable, or the exercise exists.
    """
    module, _, id = name.partition("/")
    if not _NAME.fullmatch(module) or not _NAME.fullmatch(id):
        raise CourseError(f"{name!r} is not MODULE/EXERCISE in lower case, such as 02_memory/predict_strides")
    course, places = load_course(root), Places(module, id)
    if id in [exercise.id for exercise in course.exercises] or (root / places.shown).exists():
        raise CourseError(f"the exercise {id} exists; choose another name, an id is unique in the course")
    # First, because it may refuse: no file has been written then.
    _list_in_course(root / COURSE_FILE, module, id, known=[item.id for item in course.modules])
    title = id.replace("_", " ").capitalize()
    numbers = [exercise.number for exercise in course.exercises]
    fill = {"id": id, "title": title, "number": _next_number(module, numbers), "up": "../../../"}
    readme = root / page_of(module)
    files = {
        places.starter: templates.STARTER,
        places.shown_checks: templates.SHOWN_CHECKS,
        places.description: templates.EXERCISE,
        places.reference: templates.REFERENCE,
        places.hidden_checks: templates.HIDDEN_CHECKS,
        places.wrong / "changes_argument.py": templates.WRONG_ARGUMENT,
        places.wrong / "makes_floats.py": templates.WRONG_DTYPE,
        places.right / "adds_twice.py": templates.RIGHT,
    }
    filled = {root / path: _fill(text, fill) for path, text in files.items()}
    if not readme.exists():
        filled[readme] = f"# {module}\n\nTODO: one screen of prose that this module's exercises need.\n"
    written = _write(filled)
    if not (root / SCHEMAS).is_dir():
        written += write_schemas(root / SCHEMAS)
    # Loaded anew, so that what was laid out is a course, and its digest is that of the file.
    for exercise in load_course(root).exercises:
        if exercise.id == id:
            write_digest(exercise)
    return written


def write_schemas(folder: Path) -> list[Path]:
    """Write the JSON Schemas of course.yaml and exercise.yaml, for editors that check while one types."""
    return _write({folder / name: json.dumps(schema, indent=2) + "\n" for name, schema in schemas().items()})


def _write(files: dict[Path, str]) -> list[Path]:
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(files)


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


def _list_in_course(path: Path, module: str, id: str, known: list[str]) -> None:
    """Add one line, or one name to a line; comments and everything else stay as they are."""
    text = path.read_text(encoding="utf-8")
    if module not in known:
        title = re.sub(r"^[0-9]+_", "", module).replace("_", " ").capitalize()
        entry = f"  - folder: {module}\n    title: {title}\n    exercises: [{id}]\n"
        # As text, not as YAML: writing that anew would lose an author's comments and order.
        found = re.search(r"^modules:[^\n]*\n((?:[ #-][^\n]*\n|\n)*)", text, re.MULTILINE)
        listed = found[1].rstrip("\n") + "\n" if found and found[1].strip() else ""
        new = text[: found.start()] + f"modules:\n{listed}{entry}" + text[found.end() :] if found else text
    else:
        inline = rf"(folder:\s*{module}\s*\n(?:\s+(?!exercises:)[^\n]*\n)*\s+exercises:\s*\[)([^\]]*)\]"
        new = re.sub(inline, lambda found: f"{found[1]}{_joined(found[2], id)}]", text, count=1)
    if new == text:
        raise CourseError(
            f"{path}: could not add the exercise; add {id} to the exercises of {module} by hand, then again"
        )
    path.write_text(new, encoding="utf-8")


def _joined(names: str, id: str) -> str:
    return f"{names.rstrip().rstrip(',')}, {id}" if names.strip() else id
