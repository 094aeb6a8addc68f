"""`grade new`: lays out a course or an exercise that passes `grade verify`, except for what its author must write.

An exercise is put into course.yaml by position, so that comments, order and spacing stay as they are. YAML itself says
the positions, and the new text is read back before it is written.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from grader.course.answers import starter_digest
from grader.course.files import schemas
from grader.course.layout import COURSE_FILE, EXERCISE_FILE, SCHEMAS, TOPICS, Places, page_of
from grader.course.load import load_course
from grader.model.errors import CourseError
from grader.model.files import failing_as, write_whole

_TRY_AGAIN = "fix that, then try again"
_NAME = re.compile(r"[a-z0-9][a-z0-9_]*")


def new_course(root: Path) -> list[Path]:
    """Write the files of a new course without exercises, and return their paths.

    Raises:
        CourseError: the folder has a course already, or cannot be written to.
    """
    if (root / COURSE_FILE).exists():
        raise CourseError(f"{root / COURSE_FILE} exists; a course is not written over")
    title = root.resolve().name.replace("_", " ").capitalize()
    files = {
        root / COURSE_FILE: _template(COURSE_FILE).replace("@title@", json.dumps(title)),
        root / TOPICS: _template(TOPICS.name),
        root / ".gitignore": ".grade/\n__pycache__/\n",
    }
    return write_all(files | _schemas(root / SCHEMAS, schemas()))


def new_exercise(root: Path, name: str) -> list[Path]:
    """Write the files of a new exercise, and list it in course.yaml.

    It may be listed there already, if it has no files yet.

    Args:
        root: the folder of the course.
        name: "module/exercise"; the module is made if it is new.

    Returns:
        The paths of the files, without course.yaml.

    Raises:
        CourseError: the name is not usable, the exercise exists, or something cannot be written.
    """
    return write_all(contents_of_exercise(root, name))[1:]


def contents_of_exercise(
    root: Path,
    name: str,
    files: Callable[[Places], dict[Path, str]] | None = None,
    data: Mapping[str, bytes] | None = None,
    points: float | None = None,
    by_staff: Mapping[str, float] | None = None,
    *,
    again: bool = False,
) -> dict[Path, str | bytes]:
    """Return the contents of the files of a new exercise by path, those of course.yaml first.

    Args:
        root: the folder of the course.
        name: "module/exercise"; the module is made if it is new.
        files: a function that returns the texts of the files besides exercise.yaml, by path from the course; by default
            those of an example.
        data: the contents of data files for student code, by the name under which it reads them.
        points: the points of the exercise; by default those of the example.
        by_staff: the points of the rules that a person grades, by rule; they are among the exercise's points.
        again: True if the exercise may exist, as one that is drafted again; it then keeps its number and its title.

    Raises:
        CourseError: the name is not usable, or the exercise exists.
    """
    module, _, id = name.partition("/")
    if not _NAME.fullmatch(module) or not _NAME.fullmatch(id):
        raise CourseError(f"{name!r} is not MODULE/EXERCISE in lower case, such as 02_memory/predict_strides")
    if problem := _why_not_importable(id):
        raise CourseError(f"{id!r} {problem}: students import it by its name; choose another, such as my_{id}")
    course, places = load_course(root, whole=False), Places(module, id)
    listed = {item.id: item.module for item in course.exercises}
    listed |= {item.id: item.module for item in course.broken if item.module}  # of others a hand-in alone has the name
    is_elsewhere = listed.get(id, module) != module
    for place in (places.shown, places.staff):
        # One that course.yaml lists in this module, and that has no file yet, is laid out as well.
        if is_elsewhere or ((root / place).exists() and not again):
            where = COURSE_FILE if id in listed else place.as_posix()
            instead = (
                "" if is_elsewhere or not files else ", or add --again, which keeps the files that you have edited"
            )
            raise CourseError(
                f"the exercise {id} exists ({where}); choose another name, an id is unique in the course{instead}"
            )
    known = _settings_of(root / places.description) if again else {}
    title = str(known.get("title") or id.replace("_", " ").capitalize())
    numbers = [exercise.number for exercise in course.exercises]
    number = str(known.get("number") or _next_number(module, numbers))
    fill = {"id": id, "title": title, "number": number, "up": "../../../"}
    fill["yaml_title"] = _as_yaml(title)
    texts = (files or _example_files)(places) | {places.description: _template(EXERCISE_FILE)}
    filled = {path: re.sub(r"@(\w+)@", lambda word: fill.get(word[1], word[0]), text) for path, text in texts.items()}
    if points:
        whole = f"points: {round(points, 2):g}"
        filled[places.description] = re.sub(r"(?m)^points: .*$", whole, filled[places.description])
    if data:
        filled[places.description] += f"files: [{', '.join(data)}]\n"
    if by_staff:
        rules = [f"  {rule}: {{by: staff, points: {round(most, 2):g}}}\n" for rule, most in by_staff.items()]
        filled[places.description] += "".join(["rules:\n", *rules])
    filled[places.description] += f"starter: {starter_digest(filled[places.starter].encode())}\n"
    if not (root / page_of(module)).exists():
        filled[page_of(module)] = f"# {module}\n\nTODO: one screen of prose that this module's exercises need.\n"
    if not (root / SCHEMAS).is_dir():
        filled |= _schemas(SCHEMAS, schemas())
    # With its line ends, which are somebody's choice; the file itself, where a link names it.
    text = (root / COURSE_FILE).read_bytes().decode("utf-8")
    about = re.sub(r"^[0-9]+_", "", module).replace("_", " ").capitalize()
    new_text = text if id in listed else with_exercise(text, module, about, id)
    contents: dict[Path, str | bytes] = {(root / COURSE_FILE).resolve(): new_text}
    contents |= {root / path: text for path, text in filled.items()}
    contents |= {root / places.shown / name: content for name, content in (data or {}).items()}
    return contents


def _settings_of(description: Path) -> dict[str, Any]:
    """Return what an exercise.yaml says; {} if it is missing, or is not valid YAML."""
    with suppress(OSError, ValueError, yaml.YAMLError):  # it counts as edited, stays, and `grade verify` reports it
        settings = yaml.safe_load(description.read_text(encoding="utf-8"))
        return settings if isinstance(settings, dict) else {}
    return {}


def _example_files(places: Places) -> dict[Path, str]:
    """Return the texts of the example exercise's files, by path.

    They have placeholders such as `@title@`.
    """
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
    """Return the template of a file of a new course or exercise.

    It has placeholders such as `@title@`.
    """
    return (Path(__file__).with_name("templates") / name).read_text(encoding="utf-8")


def write_schemas(folder: Path, others: Mapping[str, Any]) -> list[Path]:
    """Write the JSON Schemas of course.yaml, exercise.yaml and other files, for editors.

    Args:
        folder: the folder that the schemas are written to.
        others: further schemas, by the names of their files.

    Returns:
        The paths of the files.
    """
    return write_all(_schemas(folder, {**schemas(), **others}))


def _schemas(folder: Path, by_name: Mapping[str, Any]) -> dict[Path, str]:
    return {folder / name: json.dumps(schema, indent=2) + "\n" for name, schema in by_name.items()}


def write_all(files: Mapping[Path, str | bytes]) -> list[Path]:
    """Write all files and return their paths; if that fails, remove the new ones again.

    The first file, such as course.yaml, is written last, because it makes a course of the others.

    Raises:
        CourseError: a file cannot be written, or an incomplete one cannot be removed.
    """
    new: list[Path] = []
    try:
        for path, text in reversed([*files.items()]):
            with failing_as(f"{path} cannot be written", _TRY_AGAIN):
                for folder in reversed([folder for folder in path.parents if not folder.exists()]):
                    new.append(folder)
                    folder.mkdir()
                new += [] if path.exists() else [path]
                mode = path.stat().st_mode if path.exists() else None
                write_whole(path, text)
                if mode is not None:
                    path.chmod(mode)
    except BaseException:  # Ctrl-C, too
        for path in reversed(new):
            with failing_as(f"{path} was begun and cannot be removed", "remove it by hand"):
                path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        raise
    return list(files)


def _why_not_importable(id: str) -> str:
    """Return why students could not import a module of this name; "" if they can.

    The reason is the end of a sentence: `class` "is a word of Python", and `json` "is a module of Python or PyTorch".
    """
    if keyword.iskeyword(id):
        return "is a word of Python"
    if not id.isidentifier():
        return "is not a name in Python"
    return "is a module of Python or PyTorch" if id in sys.stdlib_module_names | {"torch", "numpy", "grader"} else ""


def _next_number(module: str, numbers: list[str]) -> str:
    digits = re.match(r"[0-9]{1,2}", module)
    used = {int(number.split("-")[0]) for number in numbers}
    chapter = f"{int(digits[0]):02}" if digits else f"{max(used, default=0) + 1:02}"
    taken = [int(number.split("-")[1]) for number in numbers if number.startswith(f"{chapter}-")]
    return f"{chapter}-{max(taken, default=0) + 1}"


def with_exercise(text: str, module: str, title: str, id: str) -> str:
    """Return the text of course.yaml with an exercise added to its module.

    A new module is added, too.

    Args:
        text: a valid course.yaml.
        module: the folder of the module.
        title: the title of the module, if it is new.
        id: the id of the exercise.

    Raises:
        CourseError: the exercise cannot be added without changing something else.
    """
    root = yaml.compose(text, yaml.SafeLoader)
    modules = _value(root, "modules")
    wanted = yaml.safe_load(text)
    known = [entry["folder"] for entry in wanted["modules"]]
    if module in known:
        names = _value(modules.value[known.index(module)], "exercises")
        where = f"the exercises of {module}"
        wanted["modules"][known.index(module)]["exercises"].append(id)
        new = _append_item(text, names, [_as_yaml(id)], _as_yaml(id))
    else:
        where = "modules"
        entry = {"folder": module, "title": title, "exercises": [id]}
        wanted["modules"].append(entry)
        rows = [f"folder: {_as_yaml(module)}", f"title: {_as_yaml(title)}", f"exercises: [{_as_yaml(id)}]"]
        new = _append_item(text, modules, rows, f"{{{', '.join(rows)}}}")
    with suppress(yaml.YAMLError):
        if yaml.safe_load(new) == wanted:
            return new
    raise CourseError(f"{COURSE_FILE}: {id} could not be added to {where}; add it there by hand, then run this again")


def _value(node: Any, key: str) -> Any:
    return next(value for name, value in node.value if name.value == key)


def _append_item(text: str, sequence: Any, rows: list[str], inline: str) -> str:
    """Return a YAML text with an item added at the end of a sequence.

    The item `b` makes `exercises: [a, b]` of `exercises: [a]`, or the line `- b` below the line `- a`.

    Args:
        text: the whole text.
        sequence: the node of the sequence.
        rows: the lines of the item, without dash or indentation, for a sequence below its key.
        inline: the text of the item for a sequence in brackets.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    if not sequence.flow_style:
        # Behind the line of the last item, so that its comment stays with it; in the column of the other dashes.
        end_of_line = text.find("\n", max(_end_positions(sequence), default=sequence.end_mark.index))
        place = len(text) if end_of_line < 0 else end_of_line + 1
        dash = " " * sequence.start_mark.column
        lines = [f"{dash}{'  ' if number else '- '}{row}" for number, row in enumerate(rows)]
        before = "" if text[:place].endswith("\n") else end
        return f"{text[:place]}{before}{end.join(lines)}{end}{text[place:]}"
    if sequence.value:
        place = sequence.value[-1].end_mark.index
        return f"{text[:place]}, {inline}{text[place:]}"
    start, stop = sequence.start_mark.index, sequence.end_mark.index
    if len(rows) == 1:
        return f"{text[:start]}[{inline}]{text[stop:]}"
    # An empty list of modules becomes one of lines, as people write it.
    lines = [f"  {'  ' if number else '- '}{row}" for number, row in enumerate(rows)]
    return f"{text[:start].rstrip(' ')}{end}{end.join(lines)}{text[stop:]}"


def _end_positions(node: Any) -> Iterator[int]:
    """Yield the position at which each scalar below a YAML node ends.

    For `a: 1  # note` these are 1 and 4. The end that the parser states for the node itself may lie behind the comments
    that follow.
    """
    if isinstance(node, yaml.ScalarNode) or node.flow_style:
        yield node.end_mark.index
        return
    for part in node.value:
        for inner in part if isinstance(part, tuple) else (part,):
            yield from _end_positions(inner)


def _as_yaml(word: str) -> str:
    """Put a word of an id or a title in quotes if YAML would not read it as a text.

    `on`, `no` and `123` get quotes; `scale` stays as it is.
    """
    return word if yaml.safe_load(word) == word else json.dumps(word)
