"""`grade new`: lays out a course or an exercise that passes `grade verify`, except for what its author must write.

An exercise is put into course.yaml by position, so that comments, order and spacing stay as they are. YAML itself says
the positions, and the new text is read back before it is written.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from grader.course.answers import starter_digest
from grader.course.files import schemas
from grader.course.layout import COURSE_FILE, EXERCISE_FILE, SCHEMAS, TOPICS, Places, page_of
from grader.course.load import load_course
from grader.model.errors import CourseError
from grader.model.files import failing_as

_TRY_AGAIN = "fix that, then try again"
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
        root / COURSE_FILE: _template(COURSE_FILE).replace("@title@", json.dumps(title)),
        root / TOPICS: _template(TOPICS.name),
        root / ".gitignore": ".grade/\n__pycache__/\n",
    }
    return _write(files | _schemas(root / SCHEMAS, schemas()))


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
    taken = sys.stdlib_module_names | {"torch", "numpy", "grader"}
    if keyword.iskeyword(id) or not id.isidentifier() or id in taken:
        raise CourseError(
            f"{id!r} is not a name for a file of one's own in Python: students import it by its name; choose another, "
            f"such as my_{id}"
        )
    course, places = load_course(root, whole=False), Places(module, id)
    listed = [*(item.id for item in course.exercises), *(item.id for item in course.broken)]
    if id in listed or any((root / place).exists() for place in (places.shown, places.staff)):
        raise CourseError(f"the exercise {id} exists; choose another name, an id is unique in the course")
    title = id.replace("_", " ").capitalize()
    numbers = [exercise.number for exercise in course.exercises]
    fill = {"id": id, "title": title, "number": _next_number(module, numbers), "up": "../../../"}
    fill["yaml_title"] = json.dumps(title)
    texts = (files or _example)(places) | {places.description: _template(EXERCISE_FILE)}
    filled = {path: re.sub(r"@(\w+)@", lambda word: fill.get(word[1], word[0]), text) for path, text in texts.items()}
    filled[places.description] += f"starter: {starter_digest(filled[places.starter].encode())}\n"
    if not (root / page_of(module)).exists():
        filled[page_of(module)] = f"# {module}\n\nTODO: one screen of prose that this module's exercises need.\n"
    if not (root / SCHEMAS).is_dir():
        filled |= _schemas(SCHEMAS, schemas())
    # With its line ends, which are somebody's choice.
    text = (root / COURSE_FILE).read_bytes().decode("utf-8")
    about = re.sub(r"^[0-9]+_", "", module).replace("_", " ").capitalize()
    course_file = {root / COURSE_FILE: with_exercise(text, module, about, id)}
    return _write(course_file | {root / path: text for path, text in filled.items()})[1:]


def _example(places: Places) -> dict[Path, str]:
    """An exercise about a function that doubles."""
    files = {
        places.starter: "starter.py",
        places.shown_checks: "shown_checks.py",
        places.reference: "reference.py",
        places.hidden_checks: "hidden_checks.py",
        places.wrong_entries: "wrong.yaml",
        places.right_entries: "right.yaml",
    }
    return {path: _template(f"{name}.txt") for path, name in files.items()}


def _template(name: str) -> str:
    """One of the texts that a new course or exercise begins with; `@word@` is filled in."""
    return (Path(__file__).with_name("templates") / name).read_text(encoding="utf-8")


def write_schemas(folder: Path, others: Mapping[str, Any]) -> list[Path]:
    """Write the JSON Schemas of course.yaml and exercise.yaml, for editors that check while one types; and others."""
    return _write(_schemas(folder, {**schemas(), **others}))


def _schemas(folder: Path, by_name: Mapping[str, Any]) -> dict[Path, str]:
    return {folder / name: json.dumps(schema, indent=2) + "\n" for name, schema in by_name.items()}


def _write(files: dict[Path, str]) -> list[Path]:
    """Write files: what comes first, such as course.yaml, is written last, because it makes a course of the others."""
    for path, text in reversed(files.items()):
        with failing_as(f"{path} cannot be written", _TRY_AGAIN):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
    return list(files)


def _next_number(module: str, numbers: list[str]) -> str:
    digits = re.match(r"[0-9]{1,2}", module)
    used = {int(number.split("-")[0]) for number in numbers}
    chapter = f"{int(digits[0]):02}" if digits else f"{max(used, default=0) + 1:02}"
    taken = [int(number.split("-")[1]) for number in numbers if number.startswith(f"{chapter}-")]
    return f"{chapter}-{max(taken, default=0) + 1}"


def with_exercise(text: str, module: str, title: str, id: str) -> str:
    """The text of course.yaml with an exercise at the end of its module, which is made if it is new.

    Args:
        text: of a valid course.yaml.
        module: the folder of the module.
        title: of the module, if it is new.
        id: of the exercise.

    Raises:
        CourseError: it cannot be put in without changing something else.
    """
    modules, wanted = _value(yaml.compose(text, yaml.SafeLoader), "modules"), yaml.safe_load(text)
    known = [entry["folder"] for entry in wanted["modules"]]
    if module in known:
        place = known.index(module)
        wanted["modules"][place]["exercises"].append(id)
        new = _appended(text, _value(modules.value[place], "exercises"), id)
    else:
        entry = {"folder": module, "title": title, "exercises": [id]}
        wanted["modules"].append(entry)
        new = _appended(text, modules, entry)
    with suppress(yaml.YAMLError):
        if yaml.safe_load(new) == wanted:
            return new
    raise CourseError(f"{COURSE_FILE}: {id} could not be added to {module}; add it there by hand, then again")


def _value(node: Any, key: str) -> Any:
    return next(value for name, value in node.value if name.value == key)


def _appended(text: str, sequence: Any, item: object) -> str:
    """The text with one item more at the end of a sequence, in brackets or in lines as the others are."""
    start, stop = sequence.start_mark.index, sequence.end_mark.index
    if sequence.flow_style and not (sequence.value == [] and isinstance(item, dict)):
        place = sequence.value[-1].end_mark.index if sequence.value else start + 1
        inline = yaml.safe_dump([item], default_flow_style=True, sort_keys=False, width=sys.maxsize)[1:-2]
        return f"{text[:place]}{', ' * bool(sequence.value)}{inline}{text[place:]}"
    rows = yaml.safe_dump([item], sort_keys=False).splitlines()
    lines = text[: start if sequence.flow_style else stop].rstrip(" ").splitlines()
    while not lines[-1].strip() or lines[-1].lstrip().startswith("#"):
        lines.pop()  # the sequence ends before the blank lines and comments below it
    below = text[stop:].lstrip().splitlines() if sequence.flow_style else text.splitlines()[len(lines) :]
    dash = " " * (2 if sequence.flow_style else sequence.start_mark.column)
    end = "\r\n" if "\r\n" in text else "\n"
    return end.join([*lines, *(f"{dash}{row}" for row in rows), *below, ""])
